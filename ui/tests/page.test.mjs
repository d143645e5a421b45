// Tests of the page against a running server: GRISTMILL_VIEW_URL is what `gristmill view` prints. CHROMIUM names the browser;
// GRISTMILL_SHOTS a directory for pictures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { chromium } from "playwright-core";

const url = process.env.GRISTMILL_VIEW_URL;
const skip = url ? false : "GRISTMILL_VIEW_URL is not set";
const shots = process.env.GRISTMILL_SHOTS;
const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const views = [
  "overview",
  "functions",
  "flame",
  "tree",
  "callers",
  "graph",
  "treemap",
  "source",
  "assembly",
  "parts",
  "findings",
];
let browser, context;

before(async () => {
  if (skip) return;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  context = await browser.newContext({ bypassCSP: false });
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForSelector("main h1");
  await page.close();
});
after(() => browser?.close());

/** Opens a view with the most expensive function selected, and gathers errors of the page. */
async function open(view, options = {}) {
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) errors.push(message.text());
  });
  await page.emulateMedia({ colorScheme: options.dark ? "dark" : "light" });
  await page.setViewportSize(options.size ?? { width: 1440, height: 900 });
  const at = new URL(url);
  at.hash = `v=1&view=${view}${options.id === undefined ? "" : `&id=${options.id}`}${options.more ?? ""}`;
  await page.goto(at.href);
  await page.waitForSelector("main");
  await page.waitForFunction(
    () => !document.querySelector("[aria-busy=true], .status:has(span:nth-child(3):not(:empty))"),
  );
  return { page, errors };
}
async function hottest() {
  const { page } = await open("functions");
  const id = Number((await page.locator("tr[id^=row-]").first().getAttribute("id")).slice(4));
  await page.close();
  return id;
}

for (const view of views)
  for (const dark of [false, true]) {
    test(`${view} ${dark ? "dark" : "light"}: no error, no violation of WCAG AA`, { skip }, async () => {
      const id = await hottest();
      for (const size of [
        { width: 1440, height: 900 },
        { width: 800, height: 600 },
      ]) {
        const { page, errors } = await open(view, { dark, size, id });
        assert.deepEqual(errors, []);
        if (shots)
          await page.screenshot({
            path: join(shots, `${view}-${dark ? "dark" : "light"}-${size.width}.png`),
          });
        assert.equal(
          await page.evaluate(() => document.documentElement.scrollWidth > innerWidth),
          false,
          "the page is not wider than the window",
        );
        // The page's policy forbids other scripts: axe runs through the debugger.
        const client = await context.newCDPSession(page);
        await client.send("Runtime.evaluate", { expression: axe });
        const { result } = await client.send("Runtime.evaluate", {
          expression: `axe.run({ runOnly: ["wcag2a", "wcag2aa"] }).then((r) => JSON.stringify(r.violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160))])))`,
          awaitPromise: true,
          returnByValue: true,
        });
        assert.deepEqual(JSON.parse(result.value), []);
        await page.close();
      }
    });
  }

test("a selection is in the address, and back undoes it", { skip }, async () => {
  const { page } = await open("functions");
  await page.locator("tr[id^=row-] button.name").first().click();
  await page.waitForSelector(".inspector h2");
  assert.match(page.url(), /[&]id=\d+/);
  await page.goBack();
  await page.waitForSelector(".inspector .hint");
  await page.close();
});

test("sorting is told, and the order changes", { skip }, async () => {
  const { page } = await open("functions");
  await page.getByRole("button", { name: "Inclusive" }).click();
  assert.equal(await page.locator("th[aria-sort]").textContent(), "Inclusive ▼");
  assert.match(page.url(), /s=inclusive/);
  await page.close();
});

test("the palette finds a view and closes", { skip }, async () => {
  const { page } = await open("overview");
  await page.keyboard.press("Control+k");
  await page.keyboard.type(">call tree");
  await page.keyboard.press("Enter");
  await page.waitForSelector("main.view-tree");
  assert.equal(await page.locator("dialog").count(), 0);
  await page.close();
});

test("arrows walk the flame graph and are spoken", { skip }, async () => {
  const { page } = await open("flame");
  await page.locator("canvas").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.locator("[aria-live=polite]").textContent(), /inclusive, .*% of all/);
  await page.close();
});
