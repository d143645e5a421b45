// Source and machine code.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  carrier,
  close,
  corpus,
  functionRow,
  grouped,
  open,
  PROFILES,
  report,
  selecting,
  settle,
  skip,
  skipUnlessServed,
  skipWithoutSources,
} from "./browser.mjs";

const [chute] = PROFILES.code;
const selection = () => selecting(functionRow(chute, "sort_grains'2"));

test("source lines have the costs and calls of `gristmill show`", { skip: skipWithoutSources }, async () => {
  const answer = report("show", "sort_grains'2", "--lines", "0", chute);
  const lines = (Array.isArray(answer.lines) ? answer.lines : answer.lines.rows).filter(
    (line) => line.line !== null,
  );
  const page = await open(PROFILES.code, `view=source&${selection()}`);
  for (const line of lines) {
    const number = await page.locator(`#line-${line.line} td:nth-child(2) .number`).textContent();
    assert.equal(number, grouped(line.self.Ir), `line ${line.line}`);
  }
  assert.match(
    await page.locator("#line-27 pre").textContent(),
    /if \(compare\(&grains\[next\], &grains\[0\]\) < 0\)/,
  );
  assert.equal(
    await page.locator("#line-27").getAttribute("aria-selected"),
    "true",
    "the hottest line is marked",
  );
  const call = page.locator("#line-27 + .callrow");
  assert.match(await call.textContent(), /468.*60 × by_weight/);
  await call.getByRole("button").click();
  await settle(page);
  assert.equal(await page.locator("main h1").textContent(), "by_weight");
  await close(page);
});

test(
  "jumps are arrows in the margin, gaps open, and the whole file shows",
  { skip: skipWithoutSources },
  async () => {
    const page = await open(PROFILES.code, `view=source&${selection()}`);
    assert.ok((await page.locator(".jump.conditional").count()) > 3);
    assert.match(
      await page.locator("#line-24 td[title]").getAttribute("title"),
      /jumps \d+ of \d+ times to line 32/,
    );
    // The hottest line is in the middle; only the rows around it are there.
    await page.locator("main .scroll").evaluate((table) => table.scrollTo(0, 0));
    const rows = () => page.locator("tr[id^=line-]").count();
    const before = await rows();
    await page
      .getByRole("button", { name: /lines without cost/ })
      .first()
      .click();
    assert.ok((await rows()) > before);
    await page.getByLabel("all lines").check();
    assert.equal(await page.getByRole("button", { name: /lines without cost/ }).count(), 0);
    await page.getByRole("button", { name: "Whole file" }).click();
    await settle(page);
    assert.match(await page.locator("main h1").textContent(), /sieve\.c$/);
    await close(page);
  },
);

test("a profile without its sources says how to find them", { skip }, async () => {
  const page = await open(PROFILES.noProgram, `view=source&${selection()}`);
  assert.match(await page.locator("main").textContent(), /--source-map/);
  await close(page);
});

test(
  "instructions have the costs and jumps of `gristmill annotate --asm`",
  { skip: skipUnlessServed },
  async () => {
    const words = ["--binary", `/srv/demo/bin/chute=${PROFILES.code.at(-1).split("=")[1]}`];
    const answer = report("annotate", "--asm", "--filter", "^sort_grains'2$", ...words, chute);
    const steps = answer.functions[0].instructions;
    const page = await open(PROFILES.code, `view=assembly&${selection()}`);
    for (const step of steps.slice(4, 24)) {
      const row = page.locator(`tr:has(td.line-number:text-is("${step.address.slice(2)}"))`);
      if (step.has_cost)
        assert.equal(await row.locator(".number").first().textContent(), grouped(step.self.Ir), step.address);
      assert.ok((await row.locator("pre").textContent()).startsWith(step.text), step.address);
    }
    assert.match(await page.locator("main").textContent(), /inlined: swap/);
    assert.match(await page.locator("main").textContent(), /sieve\.c:27 ?if \(compare/);
    // The text of inlined functions is that of their own file.
    const headings = await page.locator("tr.code-line td:last-child").allTextContents();
    const inlined = headings.filter((text) => !text.startsWith("sieve.c"));
    for (const text of headings) {
      const [, file, line, shown] = /^([\w.]+):(\d+) (.*)$/.exec(text) ?? [];
      if (file === undefined || !existsSync(`${corpus}src/${file}`)) continue;
      const lines = readFileSync(`${corpus}src/${file}`, "utf8").split("\n");
      assert.equal(shown, lines[Number(line) - 1].trim(), text);
    }
    assert.ok(headings.length > 5, `${headings.length} lines, ${inlined.length} of other files`);
    assert.match(await page.locator("main").textContent(), /jumps 36 of 60 times to 0x400545/);
    assert.ok((await page.locator(".jump").count()) > 5);
    await page.locator(".callrow button").first().click();
    await settle(page);
    await page.waitForSelector("main h1:text-is('by_weight')");
    await close(page);
  },
);

test("a missing program is named, with what to do", { skip: skipUnlessServed }, async () => {
  const page = await open(PROFILES.noProgram, `view=assembly&${selection()}`);
  assert.match(
    await page.locator(".warn").textContent(),
    /program not found.*--binary \/srv\/demo\/bin\/chute=FILE/,
  );
  await close(page);
});

test("a profile without addresses says what to record", { skip }, async () => {
  const [mill] = PROFILES.c;
  const page = await open(PROFILES.c, `view=assembly&${selecting(functionRow(mill, "main"))}`, {});
  assert.match(await page.locator(".empty").textContent(), /--dump-instr=yes/);
  // Nothing is asked that would be refused.
  await close(page);
});

const skipIfServed = skip || (carrier === "server" ? "a server has programs" : false);
test("a page without a server says once that it has no programs", { skip: skipIfServed }, async () => {
  const page = await open(PROFILES.noProgram, `view=assembly&${selection()}`);
  const text = await page.locator("main").textContent();
  assert.match(
    text,
    /This page has no programs, so instructions have their addresses and costs, but no text/,
  );
  assert.doesNotMatch(text, /--binary|not readable|another build/);
  assert.equal(await page.locator("main .note").count(), 1);
  await close(page);
});

test("what is empty says why, and not what it is not", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-empty-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "callgrind.out.empty");
  writeFileSync(file, "version: 1\ncreator: test\nevents: Ir\n\ntotals: 0\n");
  for (const words of [PROFILES.cachegrind, [file]])
    for (const view of ["flame", "treemap", "tree"]) {
      const page = await open(words, `view=${view}`);
      assert.match(await page.locator("main .note").textContent(), /^The profile has no calls/);
      assert.doesNotMatch(await page.locator("main").textContent(), /Estimate/);
      await close(page);
    }
  for (const [hash, title] of [
    ["view=functions", "No functions"],
    ["view=functions&g=cycle", "No cycles"],
    ["view=functions&q=a", "Nothing matches"],
  ]) {
    const page = await open([file], hash);
    const text = await page.locator("main .empty").textContent();
    assert.ok(text.startsWith(title) && /Remove the filter/.test(text) === hash.includes("q="), text);
    await close(page);
  }
});

test("a Cachegrind file says that it has no calls, in each view of calls", { skip }, async () => {
  const row = functionRow(PROFILES.cachegrind[0], "sort_grains");
  for (const view of ["graph", "callers", "overview"]) {
    const page = await open(PROFILES.cachegrind, `view=${view}&${selecting(row)}`);
    assert.match(await page.locator("main").textContent(), /--tool=callgrind/, view);
    await close(page);
  }
});

test("a folder of the browser has the text of sources that the server lacks", { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "gristmill-sources-"));
  try {
    for (const name of ["src", "other"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "src", "sieve.c"), readFileSync(`${corpus}src/sieve.c`));
    writeFileSync(join(folder, "other", "sieve.c"), "another file\n");
    const page = await open(PROFILES.noProgram, `view=source&${selection()}`);
    assert.equal(await page.locator("#line-27 pre").textContent(), "");
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.getByLabel("Folder of sources").first().setInputFiles(folder);
    await page.waitForFunction(() => document.querySelector("#line-27 pre")?.textContent !== "");
    assert.match(await page.locator("#line-27 pre").textContent(), /if \(compare\(&grains\[next\]/);
    assert.match(await page.locator("p.note").first().textContent(), /src\/sieve\.c.*nobody checked/);
    // Costs are those of the answer, and nothing was sent.
    const { lines } = report("show", "sort_grains'2", "--lines", "0", chute);
    const { self } = (Array.isArray(lines) ? lines : lines.rows).find((line) => line.line === 27);
    assert.equal(await page.locator("#line-27 td:nth-child(2) .number").textContent(), grouped(self.Ir));
    assert.deepEqual(asked, []);
    await close(page);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
