// The comparison: its numbers are those of `gristmill diff`.
import assert from "node:assert/strict";
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
      row.querySelector(".fn").textContent,
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

test("rows of a comparison select the function of the new profile, by its name", { skip }, async () => {
  const page = await open(PROFILES.changed, "view=functions&cmp=1");
  await page.locator("main tbody button.name:has(.fn:text-is('by_weight'))").click();
  await settle(page);
  assert.equal(await page.locator("main tr[aria-selected=true]").count(), 1);
  const { inclusive } = functionRow(newer, "by_weight");
  assert.equal(await page.locator(".inspector dd .number").first().textContent(), grouped(inclusive.Ir));
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
