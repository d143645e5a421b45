// The browser, servers and reports of all tests of the page. GRISTMILL names the program, CHROMIUM the browser, GRISTMILL_SHOTS a
// directory for pictures. Without GRISTMILL, the tests are skipped. GRISTMILL_CARRIER says what carries the page: "server" (the
// default), "export" (one file, from the disk) or "site" (files on web space, where the profile is chosen).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { after } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { serve } from "../dev/serve.mjs";
import { smaller } from "./png.mjs";

export const program = process.env.GRISTMILL;
export const skip = program ? false : "GRISTMILL is not set to a program with the command `view`";
const root = fileURLToPath(new URL("../../", import.meta.url));
export const carrier = process.env.GRISTMILL_CARRIER ?? "server";
/** Reasons to skip tests of what only a server has, and of what needs sources. */
export const skipUnlessServed = skip || (carrier === "server" ? false : "only a server has this");
export const skipWithoutSources = skip || (carrier === "site" ? "the static viewer has no sources" : false);
export const corpus = fileURLToPath(new URL("../../corpus/", import.meta.url));
const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const sources = `--source-map=/srv/demo/src=${corpus}src`;

/** The profiles of the tests, as words of `gristmill view`. */
export const PROFILES = {
  c: [`${corpus}callgrind/callgrind.out.mill`, sources],
  cpp: [`${corpus}callgrind/callgrind.out.names`, sources],
  code: [
    `${corpus}callgrind/callgrind.out.chute`,
    sources,
    "--binary",
    `/srv/demo/bin/chute=${corpus}src/chute.elf`,
  ],
  noProgram: [`${corpus}callgrind/callgrind.out.chute`],
  events: [`${corpus}callgrind/callgrind.out.full`, sources],
  threads: [`${corpus}callgrind/callgrind.out.crew-parts`, sources],
  cachegrind: [`${corpus}cachegrind/cachegrind.out.mill-branch`],
  xdebug: [`${corpus}dialects/xdebug3.txt`],
  xdebug2: [`${corpus}dialects/xdebug2.txt`],
  pprof: [`${corpus}dialects/go-pprof.txt`],
  python: [`${corpus}python/callgrind.out.yappi`],
  changed: [
    `${corpus}callgrind/callgrind.out.mill-fast`,
    sources,
    "--base",
    `${corpus}callgrind/callgrind.out.mill`,
  ],
};

/** Those of the pictures of the README: paths are as a person types them at the root of the project. */
export const README = {
  source: ["corpus/callgrind/callgrind.out.mill-main", "--source-map=/srv/demo/src=corpus/src"],
  changes: [
    "corpus/callgrind/callgrind.out.mill-fast",
    "--source-map=/srv/demo/src=corpus/src",
    "--base",
    "corpus/callgrind/callgrind.out.mill-main",
  ],
};

/** The browser, once it is wanted. */
let browser;
let directory;
const served = new Map();
after(async () => {
  await (await browser)?.close();
  for (const one of served.values()) (await one).close?.();
  if (directory) rmSync(directory, { recursive: true });
});

/** The files among words of `gristmill view`. */
export function filesOf(words) {
  const files = { profile: [], base: [] };
  let role = "profile";
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === "--base") role = "base";
    else if (word === "--binary") at += 1;
    else if (!word.startsWith("--")) files[role].push(word);
  }
  return files;
}

/** Writes a page with a profile in it. */
function exported(words) {
  directory ??= mkdtempSync(join(tmpdir(), "gristmill-page-"));
  const file = join(directory, `${served.size}.html`);
  execFileSync(program, ["view", "--export", file, "--embed-sources", ...words], { stdio: "ignore" });
  return { address: pathToFileURL(file).href };
}

const MEDIA_TYPES = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  wasm: "application/wasm",
};

/** Serves the static viewer, as any web space would. */
async function site() {
  directory ??= mkdtempSync(join(tmpdir(), "gristmill-page-"));
  const root = join(directory, "site");
  execFileSync(program, ["view", "--site", root], { stdio: "ignore" });
  // The page is that of ui/dist, as that of a server is.
  for (const [name, page] of [
    ["index.html", "site.html"],
    ["app.js", "app.js"],
    ["style.css", "style.css"],
  ])
    copyFileSync(join(import.meta.dirname, "../dist", page), join(root, name));
  const server = createServer((request, response) => {
    const name = request.url === "/" ? "index.html" : request.url.slice(1);
    const type = MEDIA_TYPES[name.split(".").pop()];
    if (!type || name.includes("/")) return response.writeHead(404).end();
    return response.writeHead(200, { "content-type": type }).end(readFileSync(join(root, name)));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function once(key, make) {
  if (!served.has(key)) served.set(key, Promise.resolve(make()));
  return served.get(key);
}

/** Opens the address of a view, from wherever the page comes. */
async function visit(page, words, hash) {
  if (carrier === "server" || words.includes("--watch")) {
    const { address, token } = await server(words);
    await page.goto(`${address}#token=${token}&v=1&${hash}`);
  } else if (carrier === "export") {
    const { address } = await once(`export ${words.join("\n")}`, () => exported(words));
    await page.goto(`${address}#v=1&${hash}`);
  } else {
    const { address } = await once("site", site);
    await page.goto(`${address}#v=1&${hash}`);
    const { profile, base } = filesOf(words);
    if (base.length > 0) await page.setInputFiles("#base-files", base);
    await page.setInputFiles("#profile-files", profile);
  }
}

/** The server of a profile, started once for each file of tests. */
export function server(words) {
  const key = words.join("\n");
  if (!served.has(key)) served.set(key, serve(program, words, 0, root));
  return served.get(key);
}

/** Waits until nothing is asked any more and the page has not changed for a while, however busy the machine is. */
export async function settle(page) {
  await page.waitForTimeout(60);
  // Between two questions to a worker, nothing changes for longer.
  const quiet = carrier === "server" ? 100 : 250;
  await page.waitForFunction((quiet) => {
    if (window.changedAt === undefined) {
      window.changedAt = performance.now();
      const watched = {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      };
      new MutationObserver(() => (window.changedAt = performance.now())).observe(document, watched);
    }
    const isAnswered =
      document.querySelector("main") &&
      !document.querySelector("[aria-busy=true]") &&
      document.querySelector(".busy")?.textContent === "";
    return isAnswered && performance.now() - window.changedAt > quiet;
  }, quiet);
}

/** A page without an address yet. */
async function blank({ dark = false, size = { width: 1440, height: 900 } }) {
  browser ??= chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-lcd-text"],
  });
  const context = await (
    await browser
  ).newContext({
    viewport: size,
    colorScheme: dark ? "dark" : "light",
    acceptDownloads: true,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error.stack)));
  page.on("console", (message) => {
    if (message.type() === "error") page.problems.push(message.text());
  });
  return page;
}

/** Opens the static viewer, which waits for files. */
export async function openSite(options = {}) {
  const page = await blank(options);
  const { address } = await once("site", site);
  await page.goto(address);
  await page.locator("#profile-files").waitFor({ state: "attached" });
  return page;
}

/** Opens a view of a profile. Errors of the page are found by `close`. */
export async function open(words, hash, options = {}) {
  const page = await blank(options);
  await visit(page, words, hash);
  await settle(page);
  return page;
}

/** Ends a page: it must have reported nothing, and not be wider than its window. */
export async function close(page, { refused = false } = {}) {
  const isWide = await page.evaluate(
    () =>
      document.documentElement.scrollWidth > innerWidth ||
      document.documentElement.scrollHeight > innerHeight,
  );
  const problems = page.problems.filter((text) => !(refused && /status of 4\d\d/.test(text)));
  await page.context().close();
  assert.deepEqual(problems, []);
  assert.equal(isWide, false, "the page is not larger than its window");
}

/** The JSON of a report of the program. */
export function report(...words) {
  const text = execFileSync(program, [...words, "--format", "json"], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return JSON.parse(text);
}

/** A number as the page writes it. */
export function grouped(value) {
  const text = String(value).replace(/\B(?=(\d{3})+$)/g, ",");
  return text.startsWith("-") ? `−${text.slice(1)}` : text;
}

/** Parameters of an address that select a function of a report. */
export function selecting({ name, file, object }) {
  return new URLSearchParams({ f: name, ff: file, fo: object }).toString();
}

/** The row of a function in the report of all functions. */
export function functionRow(file, name, ...words) {
  const rows = report("functions", "--limit", "0", "--no-fold-start-up", ...words, file).functions;
  return rows.find((row) => row.name === name);
}

/** The violations of WCAG AA. The page's policy forbids other scripts: axe runs through the debugger. */
export async function violations(page) {
  const client = await page.context().newCDPSession(page);
  await client.send("Runtime.evaluate", { expression: axe });
  const expression = `axe.run({ runOnly: ["wcag2a", "wcag2aa"] }).then((result) =>
    JSON.stringify(result.violations.map((one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])))`;
  const { result } = await client.send("Runtime.evaluate", {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  return JSON.parse(result.value);
}

/** The name and the bytes of a download. */
export async function download(page, item) {
  await page.locator("details.export summary").click();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: item, exact: true }).click(),
  ]);
  return {
    name: saved.suggestedFilename(),
    bytes: readFileSync(await saved.path()),
  };
}

export async function shot(page, name) {
  const directory = process.env.GRISTMILL_SHOTS;
  if (directory) writeFileSync(join(directory, `${name}.png`), smaller(await page.screenshot()));
}

/** The text for screen readers. */
export function spoken(page) {
  return page.locator("[aria-live=polite]").textContent();
}

/** The views of one profile. */
export const VIEWS = [
  "overview",
  "functions",
  "flame",
  "sandwich",
  "tree",
  "callers",
  "graph",
  "treemap",
  "source",
  "assembly",
  "parts",
  "findings",
];

/** The views of a comparison. */
export const COMPARED = [
  "compare",
  "functions",
  "flame",
  "sandwich",
  "tree",
  "callers",
  "graph",
  "treemap",
  "source",
];

/** The sizes of windows that the page is made for. */
export const SIZES = [
  { width: 1440, height: 900 },
  { width: 800, height: 600 },
];
