// The comparison: its numbers are those of `gristmill diff`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  close,
  download,
  functionRow,
  grouped,
  open,
  PROFILES,
  report,
  selecting,
  settle,
  skip,
} from "./browser.mjs";

const [newer] = PROFILES.changed;
const base = PROFILES.changed.at(-1);
const diff = (...words) => report("diff", ...words, base, newer);
const signed = (value) => (value > 0 ? `+${grouped(value)}` : grouped(value));

test("totals, causes and rows are those of `gristmill diff`", { skip }, async () => {
  const answer = diff();
  const page = await open(PROFILES.changed, "view=compare");
  assert.match(await page.locator(".totals").textContent(), /▼ −83,928.*−69\.0%.*121,608 → 37,680/);
  const causes = await page.locator(".causes .sentence").allTextContents();
  assert.deepEqual(
    causes,
    answer.causes.slice(0, causes.length).map((cause) => cause.text),
  );
  const effects = await page.locator(".causes .number").allTextContents();
  assert.equal(effects[0].replace(/^. /, ""), signed(answer.causes[0].effect));
  assert.match(await page.locator(".warn").textContent(), /the commands differ/);
  await close(page);
});

test("functions have both sides and the change, with filters", { skip }, async () => {
  const rows = diff("--limit", "0").functions;
  const page = await open(PROFILES.changed, "view=functions&cmp=1");
  const shown = await page.locator("main tbody tr:not(.pad)").evaluateAll((list) =>
    list.slice(0, 20).map((row) => [
      row.cells[0].textContent,
      row.cells[1].textContent,
      row.cells[2]
        .querySelector(".number")
        .textContent.trim()
        .replace(/^[▲▼] /, ""),
      row.querySelector(".name").title.split("\n")[0],
    ]),
  );
  const expected = rows
    .slice(0, 20)
    .map((row) => [
      grouped(row.self.Ir.base),
      grouped(row.self.Ir.new),
      signed(row.self.Ir.change),
      row.name,
    ]);
  assert.deepEqual(shown, expected);
  const count = (on) => rows.filter(on).length;
  for (const [name, wanted] of [
    ["Worse", count((row) => row.self.Ir.change > 0)],
    ["Better", count((row) => row.self.Ir.change < 0)],
    ["New", count((row) => row.on === "new")],
    ["Gone", count((row) => row.on === "vanished")],
  ]) {
    const tab = page.getByRole("button", { name: new RegExp(`^${name} `) });
    assert.equal(await tab.locator(".count").textContent(), String(wanted), name);
  }
  await page.getByRole("button", { name: /^Worse / }).click();
  await settle(page);
  assert.equal(
    await page.locator("main tbody tr:not(.pad)").count(),
    count((row) => row.self.Ir.change > 0),
  );
  await close(page);
});

test("x swaps the sides", { skip }, async () => {
  const page = await open(PROFILES.changed, "view=functions&cmp=1");
  await page.keyboard.press("x");
  await settle(page);
  assert.match(await page.locator(".compare-line").textContent(), /37,680 → 121,608 Ir \+83,928/);
  const first = page.locator("main tbody tr:not(.pad)").first();
  assert.match(await first.textContent(), /^020,836▲ \+20,836new/);
  await close(page);
});

test("flame graph and tree have the changes of `gristmill diff --tree`", { skip }, async () => {
  const { nodes, functions } = diff("--tree", "--limit", "0", "--min", "0");
  const page = await open(PROFILES.changed, "view=flame&cmp=1");
  const svg = (await download(page, "Picture as SVG")).bytes.toString();
  for (const node of nodes.slice(0, 8)) {
    const { base: before, new: after } = node.inclusive.Ir;
    const name = functions[node.function].name.replace("'", "&#39;").replace("(", "\\(").replace(")", "\\)");
    assert.match(svg, new RegExp(`<title>${name}: ${grouped(before)} → ${grouped(after)} Ir`));
  }
  await page.keyboard.press("5");
  await settle(page);
  const main = page.locator("tr[aria-level]:has(.fn:text-is('main'))").first();
  assert.match(await main.textContent(), /^85,12337,680~?▼ −47,443/);
  await close(page);
});

/** The rows of the table of a view, as texts of their cells. */
async function tableRows(page) {
  return page
    .locator("main tbody tr:not(.pad)")
    .evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
}

test("the call graph has both sides of functions and calls", { skip }, async () => {
  const answer = diff("--function", "main");
  const selection = selecting(functionRow(newer, "main"));
  const page = await open(PROFILES.changed, `view=graph&cmp=1&min=0&n=200&d1=100&d2=100&t=1&${selection}`);
  const rows = await tableRows(page);
  for (const { function: callee, inclusive, cost = inclusive } of answer.callees) {
    const row = rows.find((cells) => cells[4] === "main" && cells[5] === callee.name);
    assert.ok(row, callee.name);
    assert.deepEqual(row.slice(0, 2), [grouped(cost.Ir.base), grouped(cost.Ir.new)], callee.name);
  }
  await page.keyboard.press("t");
  await settle(page);
  const node = page.locator(".graph .node:has(text:text-is('shift'))");
  assert.match(await node.getAttribute("aria-label"), /^shift \(gone\): 83,767 → 0 Ir inclusive, −83,767/);
  assert.match(await node.getAttribute("class"), /change-0/);
  await node.focus();
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(page.url(), /f=shift/);
  const saved = await download(page, "Picture as SVG");
  assert.match(saved.bytes.toString(), /<title>main → sort_grains: 0 → 31,012 Ir inclusive/);
  await close(page);
});

test("treemap and sandwich have both sides", { skip }, async () => {
  const page = await open(PROFILES.changed, "view=treemap&cmp=1&t=1");
  const [program] = await tableRows(page);
  assert.deepEqual(program.slice(0, 2), ["121,608", "37,680"]);
  const rows = await tableRows(page);
  const main = rows.find((cells) => /^main/.test(cells[4]));
  assert.deepEqual(main.slice(0, 2), ["85,123", "37,680"]);
  await close(page);
  const { base: before, new: after } = diff("--limit", "0").functions.find(
    (row) => row.name === "sort_grains",
  ).inclusive.Ir;
  const selection = selecting(functionRow(newer, "sort_grains"));
  const other = await open(PROFILES.changed, `view=sandwich&cmp=1&${selection}`);
  const text = await other.locator("main p.dim").first().textContent();
  assert.ok(text.startsWith(`${grouped(before)} → ${grouped(after)} Ir`), text);
  const svg = (await download(other, "Picture as SVG")).bytes.toString();
  assert.match(svg, new RegExp(`<title>sort_grains: ${grouped(before)} → ${grouped(after)} Ir`));
  assert.match(svg, /<title>shift: 70,180 → 0 Ir/);
  await close(other);
});

test("a zoom into changes is in the address, and Back undoes it", { skip }, async () => {
  const page = await open(PROFILES.changed, "view=flame&cmp=1");
  const canvas = page.locator('canvas[aria-label^="Flame"]');
  await canvas.focus();
  for (let level = 0; level < 4; level++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(page.url(), /zp=%28below\+main%29/);
  await page.goBack();
  await settle(page);
  assert.doesNotMatch(page.url(), /zp=/);
  await close(page);
});

test("source and callers of a function have both sides", { skip }, async () => {
  const answer = diff("--function", "sort_grains");
  const selection = selecting(functionRow(newer, "sort_grains"));
  const page = await open(PROFILES.changed, `view=source&cmp=1&${selection}`);
  const changes = await page
    .locator("table.src tbody tr:not(.callrow) td:nth-child(5) .number")
    .allTextContents();
  assert.deepEqual(
    changes.map((text) => text.trim().replace(/^[▲▼] /, "")),
    answer.lines.map((line) => signed(line.self.Ir.change)),
  );
  await page.keyboard.press("6");
  await settle(page);
  const callees = await page.locator("section:has(h3:has-text('Callees')) tbody tr").count();
  assert.equal(callees, answer.callees.length);
  await close(page);
});

test("lines of another file are below its name", { skip }, async () => {
  const { lines } = diff("--function", "treat_all");
  const files = lines
    .map((line) => line.file)
    .filter((file, index, all) => index > 0 && file !== all[index - 1]);
  assert.ok(files.length > 0);
  const page = await open(
    PROFILES.changed,
    `view=source&cmp=1&${selecting(functionRow(newer, "treat_all"))}`,
  );
  const heads = await page.locator("table.src .subhead").allTextContents();
  assert.deepEqual(
    heads,
    files.map((file) => `inlined from ${file}`),
  );
  await close(page);
});

test("rows of a comparison select the function of the new profile, by its name", { skip }, async () => {
  const page = await open(PROFILES.changed, "view=functions&cmp=1");
  await page.locator("main tbody button.name:has(.fn:text-is('by_weight'))").click();
  await settle(page);
  assert.equal(await page.locator("main tr[aria-selected=true]").count(), 1);
  const { inclusive } = diff("--limit", "0").functions.find((row) => row.name === "by_weight");
  const fact = await page.locator(".inspector dd").first().textContent();
  assert.ok(fact.startsWith(`${grouped(inclusive.Ir.base)} → ${grouped(inclusive.Ir.new)} ▼`), fact);
  await page.keyboard.press("]");
  await settle(page);
  assert.equal(await page.locator(".inspector h2").textContent(), "by_moisture");
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await settle(page);
  await page.locator(".sentence:has-text('sort_grains costs less')").first().click();
  await settle(page);
  assert.equal(await page.locator("main h1").textContent(), "sort_grains");
  await close(page);
});

test(
  "the percentages of a view say what they are of, and those of causes are the report's",
  { skip },
  async () => {
    const answer = diff();
    const { base: before } = answer.totals.Ir;
    const page = await open(PROFILES.changed, "view=compare");
    const share = (part) => `${((part / before) * 100).toFixed(1).replace("-", "−")}%`;
    assert.equal(await page.locator(".causes .share").first().textContent(), share(answer.causes[0].effect));
    const whole = () => page.locator(".whole").textContent();
    assert.equal(await whole(), "100% = the cost before, in each row");
    const row = diff("--limit", "0").functions.find((one) => one.name === "by_weight");
    await page.keyboard.press("d");
    for (const [hash, wanted] of [
      ["view=functions&cmp=1", "100% = the cost before, in each row"],
      ["view=tree&cmp=1", "100% = the cost before, in each row"],
      ["view=flame&cmp=1&t=1", "100% = the cost before, in each row"],
      ["view=flame&cmp=1", "100% = 121,608 Ir, the total before"],
      ["view=graph&cmp=1", "100% = 121,608 Ir, the total before"],
      ["view=graph&cmp=1&x=1", "100% = 37,680 Ir, the total before"],
      ["view=overview&cmp=1", "100% = 37,680 Ir, the total"],
    ]) {
      const other = await open(PROFILES.changed, hash);
      assert.equal(await other.locator(".whole").textContent(), wanted, hash);
      if (hash === "view=functions&cmp=1") {
        const change = other.locator("tr:has(.fn:text-is('by_weight')) .change").first();
        const { base: old, change: by } = row.self.Ir;
        const own = ((by / old) * 100).toFixed(1).replace("-", "−");
        assert.equal(
          await change.getAttribute("title"),
          `${own}% of the cost before; ${share(by)} of the total before`,
        );
      }
      await close(other);
    }
    await close(page);
  },
);

test("the overview leads to the base, and the sides are named in their order", { skip }, async () => {
  const page = await open(PROFILES.changed, "view=overview");
  await page.getByRole("button", { name: /^Changes since the base, .*callgrind\.out\.mill$/ }).click();
  await settle(page);
  const title = () => page.locator("main h1").textContent();
  assert.equal(await title(), "Changes since the base");
  await page.keyboard.press("x");
  await settle(page);
  assert.equal(await title(), "Changes from the new profile back to the base");
  await page.keyboard.press("d");
  await settle(page);
  const line = () => page.locator(".compare-line .dim").textContent();
  assert.match(await line(), /mill-fast → \S*mill \(base\)$/);
  await page.keyboard.press("x");
  await settle(page);
  assert.match(await line(), /mill \(base\) → \S*mill-fast$/);
  await close(page);
});

test("the comparison is saved as a table and as its answer", { skip }, async () => {
  const rows = diff("--limit", "0").functions;
  const page = await open(PROFILES.changed, "view=compare");
  const csv = (await download(page, "Table as CSV")).bytes.toString().split("\r\n");
  assert.match(csv[0], /^self before,self after,change,/);
  assert.equal(csv.length, 1 + rows.length);
  const { name, base: before, new: after } = { ...rows[0], ...rows[0].self.Ir };
  assert.ok(csv[1].startsWith(`${before},${after},${after - before},`) && csv[1].includes(name));
  const json = JSON.parse((await download(page, "Answer as JSON")).bytes.toString());
  assert.equal(json.causes.length, diff().causes.length);
  await close(page);
});

test("what is done to functions of long names can be told apart", { skip }, async () => {
  const name = "n".repeat(200);
  const hash = new URLSearchParams({ view: "functions", hide: `^${name}$`, drop: `^${name}$` });
  const page = await open(PROFILES.changed, hash.toString());
  const seen = await page
    .locator(".crumbs button:not(.plain)")
    .evaluateAll((list) =>
      list.map((button) => [button.textContent.slice(0, 20), button.title.includes("n".repeat(200))]),
    );
  assert.deepEqual(seen, [
    ["left out, with what ", true],
    ["merged into callers:", true],
  ]);
  await close(page);
});

/** `b`, with `c` below it, is called by `main` and by `a`. The calls of `main` cost more on one side. */
const shared = (more) => `events: Ir

fl=a.c
fn=main
1 10
cfn=a
calls=1 1
1 110
cfn=b
calls=1 1
1 ${80 + more}
fn=a
1 10
cfn=b
calls=1 1
1 100
fn=b
1 ${60 + more}
cfn=c
calls=2 1
1 120
fn=c
1 120
`;

test("the tree of changes marks each estimate as the command does", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "gristmill-shared-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = [10, 0].map((more) => {
    const file = join(folder, `callgrind.out.${more}`);
    writeFileSync(file, shared(more));
    return file;
  });
  const page = await open([files[0], "--base", files[1]], "view=tree&cmp=1");
  const rows = await page
    .locator("main tr[aria-level]")
    .evaluateAll((list) =>
      list.map((row) => [...row.cells].slice(0, 5).map((cell) => cell.textContent.includes("~"))),
    );
  const { nodes } = report("diff", "--tree", "--min", "0.1", "--limit", "2000", files[1], files[0]);
  assert.deepEqual(
    rows,
    nodes.map((node) => [
      node.guessed,
      node.guessed,
      node.guessed,
      node.self_guessed,
      node.calls_guessed ?? false,
    ]),
  );
  assert.ok(nodes.some((node) => node.self_guessed) && nodes.some((node) => !node.guessed));
  await close(page);
});

test(
  "the selection of a comparison is the row that was clicked, among functions of one name",
  { skip },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "gristmill-namesakes-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const files = [
      [12, 90, 300],
      [10, 20, 100],
    ].map(([one, other, third], nth) => {
      const file = join(folder, `callgrind.out.${nth}`);
      writeFileSync(
        file,
        `events: Ir\nob=/one.so\nfl=a.c\nfn=init\n1 ${one}\nfl=b.c\nfn=init\n1 ${other}\nob=/two.so\nfl=b.c\nfn=init\n1 ${third}\n`,
      );
      return file;
    });
    const page = await open([files[0], "--base", files[1]], "view=functions&cmp=1");
    for (const [row, expected] of ["100 → 300", "20 → 90", "10 → 12"].entries()) {
      await page.locator("main tbody tr:not(.pad) .name").nth(row).click();
      await settle(page);
      const facts = await page.locator(".inspector dl.changes dd").allTextContents();
      assert.ok(facts[1].startsWith(expected), `${row}: ${facts[1]}`);
    }
    await close(page);
  },
);
