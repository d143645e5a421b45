// What strange files do to the page: names in what it saves, lines that no text has, packed files, and files chosen in a hurry.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  carrier,
  close,
  download,
  open,
  openSite,
  program,
  report,
  selecting,
  settle,
  skip,
  skipUnlessServed,
} from "./browser.mjs";

function directory(t) {
  const path = mkdtempSync(join(tmpdir(), "gristmill-hostile-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** Names with all characters of the blocks that have some that nobody sees, but line ends. */
function strangeNames() {
  const names = [
    "=f",
    "＝full",
    "＋x",
    "－x",
    "＠x",
    "+1",
    "-12",
    "-x",
    "@a",
    "a;=b;c",
    'say "x"',
    "\t=1",
    "f(a, b)",
  ];
  const blocks = [
    [0x00, 0x36f],
    [0x600, 0x61f],
    [0x1100, 0x11ff],
    [0x1780, 0x181f],
    [0x2000, 0x206f],
    [0x3130, 0x318f],
    [0xfe00, 0xffff],
    [0x13430, 0x1345f],
    [0x1bca0, 0x1bcaf],
    [0x1d160, 0x1d18f],
    [0xe0000, 0xe01ff],
  ];
  for (const [first, last] of blocks)
    for (let start = first; start <= last; start += 16) {
      const codes = Array.from({ length: 16 }, (_, nth) => start + nth);
      names.push(`n${String.fromCodePoint(...codes.filter((code) => code !== 10 && code !== 13))}`);
    }
  return names;
}

/** The cells of lines of CSV, as they are written. */
function cells(line) {
  return [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map((match) => match[1]);
}

test("saved and copied tables spell names as the program does", { skip }, async (t) => {
  const file = join(directory(t), "callgrind.out.1");
  const blocks = strangeNames().map((name, index) => `fn=${name}\n${index + 1} ${1000 + index}\n`);
  writeFileSync(file, `# callgrind format\nevents: Ir\n\nfl=a.c\n${blocks.join("\n")}`);
  const words = ["functions", "--limit", "0", "--no-fold-start-up", "--format", "csv", file];
  const [heads, ...rows] = execFileSync(program, words, { encoding: "utf8" })
    .trimEnd()
    .split("\n")
    .map(cells);
  const expected = rows.map((row) => [row[heads.indexOf("self Ir")], row[heads.indexOf("name")]]);
  assert.equal(expected.length, blocks.length);
  const page = await open([file], "view=functions");
  const csv = (await download(page, "Table as CSV")).bytes.toString();
  const saved = csv.split("\r\n").slice(1).map(cells);
  assert.deepEqual(
    saved.map((row) => [row[0], row[3]]),
    expected,
  );
  await page.keyboard.press("y");
  await page.waitForTimeout(100);
  const copied = (await page.evaluate(() => navigator.clipboard.readText())).split("\n").slice(1);
  const unquoted = (cell) => cell.replace(/^"(.*)"$/, "$1").replaceAll('""', '"');
  assert.deepEqual(
    copied.map((row) => row.split("\t")[3]),
    expected.map(([, name]) => unquoted(name)),
  );
  const json = (await download(page, "Answer as JSON")).bytes.toString();
  assert.doesNotMatch(
    json,
    /[\0-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\ufeff\u{e0001}]/u,
  );
  assert.deepEqual(
    JSON.parse(json).rows.map((row) => row.name),
    report(...words.slice(0, 4), file).functions.map((row) => row.name),
  );
  // The menu is gone with its view while it has the focus.
  await page.locator("details.export summary").click();
  await page.keyboard.press("3");
  await settle(page);
  await close(page);
});

test("a folder of sources takes no time for lines that only the profile has", { skip }, async (t) => {
  const folder = directory(t);
  const file = join(folder, "callgrind.out.1");
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "main.c"), "the first line\nthe second line\n");
  const far = [5, 4_000_000_000, 2 ** 60];
  const many = Array.from({ length: 150_000 }, (_, nth) => `${nth + 1} 1\n`).join("");
  const main = [1, ...far].map((line) => `${line} 10\n`).join("");
  writeFileSync(file, `events: Ir\nfl=main.c\nfn=main\n${main}fn=many\n${many}`);
  const page = await open([file], `view=source&${selecting({ name: "main", file: "main.c", object: "" })}`);
  await page.getByLabel("Folder of sources").first().setInputFiles(join(folder, "src"));
  await page.waitForFunction(() => document.querySelector("#line-1 pre")?.textContent === "the first line");
  assert.equal(await page.locator("#line-2 pre").textContent(), "the second line");
  for (const line of far) {
    assert.equal(await page.locator(`#line-${line} td:nth-child(2) .number`).textContent(), "10");
  }
  await page.evaluate(() => {
    location.hash = location.hash.replace("f=main&", "f=many&");
  });
  await page.waitForFunction(() => document.querySelector("main h1")?.textContent === "many");
  await settle(page);
  assert.equal(await page.locator("#line-2 pre").textContent(), "the second line");
  await close(page);
});

test(
  "a file of several gzip files in a row is one, and damage is named",
  { skip: skipUnlessServed },
  async () => {
    const lines = Array.from({ length: 300 }, (_, nth) => `fn=f${nth}\n1 ${nth}\n`);
    const pieces = ["events: Ir\n", ...lines].map((text) => gzipSync(text));
    const buffer = Buffer.concat([...pieces, gzipSync("")]);
    const page = await openSite();
    await page.setInputFiles("#profile-files", { name: "several.gz", mimeType: "application/gzip", buffer });
    await page.locator(".big").first().waitFor();
    assert.equal(await page.locator(".big").first().textContent(), "44,850");
    await close(page);
    for (const cut of [
      buffer.subarray(0, -30),
      Buffer.concat([buffer, Buffer.from([0x1f, 0x8b, 8, 0, 1])]),
      // More than a browser expands in time.
      Buffer.concat([buffer, ...Array(2000).fill(gzipSync(""))]),
    ]) {
      const page = await openSite();
      await page.setInputFiles("#profile-files", {
        name: "cut.gz",
        mimeType: "application/gzip",
        buffer: cut,
      });
      assert.match(await page.locator("[role=alert]").textContent(), /cut\.gz: the gzip data is damaged/);
      await close(page);
    }
  },
);

for (const between of ["fn=bbb\n1 5\n", "\0 no profile"]) {
  const what = between.includes("fn=") ? "a profile" : "another file";
  test(
    `of files dropped in a hurry the last one is shown, after ${what}`,
    { skip: skipUnlessServed },
    async () => {
      const page = await openSite();
      const large = Array.from({ length: 60_000 }, (_, nth) => `fn=aaa${nth}\n1 ${nth}\n`).join("");
      const texts = [`fl=a.c\n${large}`, between, "fn=ccc\n1 77\n"].map((text) => `events: Ir\n${text}`);
      if (what !== "a profile") texts[1] = between;
      await page.evaluate((texts) => {
        window.seen = [];
        const see = () =>
          window.seen.push(document.title, document.querySelector("[role=alert]")?.textContent);
        new MutationObserver(see).observe(document, { subtree: true, childList: true, characterData: true });
        texts.forEach((text, nth) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([text], `file-${nth}`));
          dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        });
      }, texts);
      await page.waitForFunction(() => document.title.startsWith("file-2"));
      await settle(page);
      assert.match(await page.title(), /^file-2 /);
      assert.equal(await page.locator(".big").first().textContent(), "77");
      const seen = (await page.evaluate(() => window.seen)).filter((text) => /file-1/.test(text ?? ""));
      assert.deepEqual(seen, []);
      await close(page);
    },
  );
}

test("a button for a function leaves one alone whose name differs in case only", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "gristmill-case-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "callgrind.out.case");
  const call = (name, cost) => `cfn=${name}\ncalls=1 1\n1 ${cost}\n`;
  const calls = call("step", 1000) + call("Step", 500);
  writeFileSync(file, `events: Ir\nfl=a.go\nfn=main\n1 5\n${calls}fn=step\n1 1000\nfn=Step\n1 500\n`);
  const page = await open([file], "view=functions&f=step&ff=a.go");
  const text = (row, column) => row.locator(column).textContent();
  for (const [key, pattern, said, expected] of [
    ["f", "--focus '(?-i)^step$'", "only stacks with step", ["step 1,000", "main 0"]],
    ["D", "--exclude '(?-i)^step$'", "left out, with what it calls: step", ["Step 500", "main 5"]],
    ["m", "--hide '(?-i)^step$'", "merged into callers: step", ["main 1,005", "Step 500"]],
  ]) {
    await page.keyboard.press(key);
    await settle(page);
    const rows = await page.locator("main tr[id^=row-]").all();
    const shown = rows.map(
      async (row) => `${await text(row, ".fn")} ${await text(row, "td:nth-child(1) .number")}`,
    );
    assert.deepEqual(await Promise.all(shown), expected);
    assert.ok((await page.locator(".command").textContent()).includes(pattern), key);
    await page.getByRole("button", { name: `Remove: ${said}` }).click();
    await settle(page);
  }
  // The other one comes back when the pattern that leaves it out goes.
  const scoped = await open([file], "view=functions&f=step&ff=a.go&drop=%5EStep%24");
  await scoped.keyboard.press("f");
  await settle(scoped);
  assert.ok((await scoped.locator(".command").textContent()).includes("--focus '(?-i)^step$'"));
  await close(scoped);
  await close(page);
});

test("functions of one name, file and object are told apart", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "gristmill-twins-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "callgrind.out.twins");
  const twins = ["1111", "2222", "3333"].map((hash) => `fn=_ZN3app4swap17h${hash.repeat(4)}E`);
  writeFileSync(
    file,
    `events: Ir\nfl=a.rs\n${twins[0]}\n1 10\n${twins[1]}\n1 30\n${twins[2]}\n1 20\nfn=main\n1 5\n`,
  );
  const page = await open([file], "view=functions");
  const self = () => page.locator(".inspector dd .number").first().textContent();
  const row = (nth) => page.locator("main tr[id^=row-] .fn").nth(nth).click();
  for (const [nth, cost] of [
    [0, "30"],
    [1, "20"],
    [2, "10"],
    [3, "5"],
    [1, "20"],
  ]) {
    await row(nth);
    await settle(page);
    assert.equal(await self(), cost);
    // The static viewer has to be given the profile again.
    if (carrier !== "site") {
      await page.reload();
      await settle(page);
      assert.equal(await self(), cost, "loaded again");
    }
    assert.equal(new URL(page.url()).hash.includes("fi="), nth < 3);
  }
  await page.goBack();
  await settle(page);
  assert.equal(await self(), "5");
  await close(page);
});
