// Flame graph, sandwich, call graph, treemap.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  close,
  corpus,
  download,
  functionRow,
  grouped,
  open,
  PROFILES,
  report,
  selecting,
  settle,
  skip,
  spoken,
} from "./browser.mjs";

const [mill] = PROFILES.c;

test("arrows walk the flame graph, and each frame has the cost of `gristmill tree`", { skip }, async () => {
  const { nodes, functions } = report("tree", "--no-chains", "--limit", "0", "--min", "0", mill);
  const page = await open(PROFILES.c, "view=flame");
  await page.locator("main canvas").last().focus();
  await page.keyboard.press("ArrowDown");
  let at = 0;
  for (let level = 1; level < 6; level++) {
    await page.keyboard.press("ArrowDown");
    const children = nodes.flatMap((node, index) => (node.parent === at ? [index] : []));
    at = children.reduce((best, index) =>
      nodes[index].inclusive.Ir > nodes[best].inclusive.Ir ? index : best,
    );
    const node = nodes[at];
    const text = await spoken(page);
    assert.ok(
      text.startsWith(`${functions[node.function].name}: ${grouped(node.inclusive.Ir)} Ir inclusive`),
      text,
    );
    assert.match(text, new RegExp(`self ${grouped(node.self.Ir)};`));
  }
  await close(page);
});

test("a zoom is in the address, has a minimap, and Back undoes it", { skip }, async () => {
  const page = await open(PROFILES.c, "view=flame");
  const canvas = page.locator('canvas[aria-label^="Flame"]');
  assert.equal(await page.locator(".minimap").count(), 0);
  await canvas.focus();
  for (let level = 0; level < 6; level++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(page.url(), /zp=%28below\+main%29/);
  assert.equal(await page.locator(".minimap").count(), 1);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.match(await spoken(page), /^\(below main\): .*100\.0% of this picture/);
  await page.goBack();
  await settle(page);
  assert.equal(await page.locator(".minimap").count(), 0);
  await close(page);
});

test(
  "a search has the total of its matches, once for nested ones, and steps through them",
  { skip },
  async () => {
    const page = await open(PROFILES.c, "view=flame");
    await page.keyboard.press("/");
    await page.keyboard.type("^sort_grains");
    await settle(page);
    // sort_grains'2 is inside of sort_grains: only the outer one counts.
    const { inclusive } = functionRow(mill, "sort_grains");
    assert.match(
      await page.locator(".matched").textContent(),
      new RegExp(`${grouped(inclusive.Ir)} \\(57\\.7%\\)`),
    );
    await page.keyboard.press("Enter");
    assert.match(await spoken(page), /^sort_grains: 70,180 Ir/);
    await page.getByLabel("Search names").fill("soak$");
    await settle(page);
    const soak = functionRow(mill, "soak");
    assert.match(await page.locator(".matched").textContent(), new RegExp(`${grouped(soak.inclusive.Ir)} `));
    await page.getByLabel("Next match").click();
    await settle(page);
    assert.match(await spoken(page), /^soak: /);
    assert.equal(await page.locator(".minimap").count(), 1, "a narrow match is zoomed into");
    await page.getByLabel("Search names").fill("(");
    assert.match(await page.locator(".matched").textContent(), /not a valid pattern/);
    await close(page);
  },
);

test("the flame graph is saved as SVG and PNG, and shown as a table", { skip }, async () => {
  const page = await open(PROFILES.c, "view=flame");
  const svg = (await download(page, "Picture as SVG")).bytes.toString();
  assert.match(svg, /<title>main: 85,123 Ir inclusive/);
  const png = await download(page, "Picture as PNG");
  assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
  assert.ok(png.bytes.length > 5000);
  await page.keyboard.press("t");
  await settle(page);
  assert.equal(
    await page.locator("tbody tr:has(.fn:text-is('main')) .number").first().textContent(),
    "85,123",
  );
  await close(page);
});

test("wheel and drag zoom and move the flame graph", { skip }, async () => {
  const page = await open(PROFILES.c, "view=flame");
  const box = await page.locator('canvas[aria-label^="Flame"]').boundingBox();
  await page.mouse.move(box.x + 100, box.y + 70);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -600);
  await page.keyboard.up("Control");
  await settle(page);
  assert.equal(await page.locator(".minimap").count(), 1);
  await page.locator('canvas[aria-label^="Flame"]').focus();
  await page.keyboard.press("Home");
  await settle(page);
  assert.equal(await page.locator(".minimap").count(), 0);
  await close(page);
});

test("a frame's menu has actions, and Esc closes it", { skip }, async () => {
  const page = await open(PROFILES.c, "view=flame");
  const box = await page.locator('canvas[aria-label^="Flame"]').boundingBox();
  await page.mouse.click(box.x + 100, box.y + 70, { button: "right" });
  await settle(page);
  assert.equal(await page.locator(".menu-title").textContent(), "main");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".menu").count(), 0);
  await page.mouse.click(box.x + 100, box.y + 70, { button: "right" });
  await page.getByRole("menuitem", { name: /Sandwich/ }).click();
  await settle(page);
  assert.match(page.url(), /view=sandwich/);
  await close(page);
});

test(
  "the sandwich has the total between callers and callees, and moves to another function",
  { skip },
  async () => {
    const answer = report("show", "by_weight", mill);
    const page = await open(PROFILES.c, `view=sandwich&${selecting(functionRow(mill, "by_weight"))}`);
    assert.match(await page.locator("main").textContent(), /11,518 Ir \(9\.5%\) pass through it/);
    const svg = (await download(page, "Picture as SVG")).bytes.toString();
    for (const row of answer.callers.rows) {
      assert.match(
        svg,
        new RegExp(`<title>${row.name.replace("'", "&#39;")}: ${grouped(row.cost.Ir)} Ir inclusive`),
      );
    }
    const canvas = page.locator('canvas[aria-label^="Sandwich"]');
    await canvas.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    assert.match(await spoken(page), /^sort_grains'2: 9,409 Ir/);
    await page.keyboard.press("Enter");
    await settle(page);
    assert.equal(await page.locator("main h1").textContent(), "sort_grains'2");
    await page.goBack();
    await settle(page);
    assert.equal(await page.locator("main h1").textContent(), "by_weight");
    await close(page);
  },
);

test(
  "nodes of the call graph have the costs of `gristmill functions`, and arrows walk along calls",
  { skip },
  async () => {
    const page = await open(PROFILES.c, "view=graph&around=0");
    const labels = await page
      .locator(".node")
      .evaluateAll((list) => list.map((node) => node.getAttribute("aria-label")));
    assert.ok(labels.length > 10);
    for (const label of labels.filter((text) => !text.startsWith("cycle"))) {
      const [, name, cost] = /^(.*?): ~?([\d,]+) Ir/.exec(label);
      assert.equal(cost, grouped(functionRow(mill, name).inclusive.Ir), name);
    }
    await page.locator(".node[aria-label^='main:']").focus();
    await page.keyboard.press("ArrowDown");
    assert.match(await spoken(page), /^main → shift: 83,767 Ir .*3 calls/);
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^shift:/);
    await page.keyboard.press("ArrowUp");
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^main:/);
    await page.keyboard.press("Enter");
    await settle(page);
    assert.equal(await page.locator(".inspector h2").textContent(), "main");
    await close(page);
  },
);

test("a cut takes calls out of the graph, and all numbers follow", { skip }, async () => {
  const page = await open(PROFILES.c, "view=graph&around=0");
  await page.locator(".node[aria-label^='shift:']").focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("button", { name: "Cut these calls" }).click();
  await settle(page);
  const shift = functionRow(mill, "shift", "--cut", "^shift$ -> ^sort_grains$");
  const label = await page.locator(".node[aria-label^='shift:']").getAttribute("aria-label");
  assert.match(label, new RegExp(`^shift: ~?${grouped(shift.inclusive.Ir)} Ir`));
  await page.getByRole("button", { name: "Remove: cut: shift -> sort_grains" }).click();
  await settle(page);
  assert.match(
    await page.locator(".node[aria-label^='shift:']").getAttribute("aria-label"),
    /^shift: 83,767 Ir/,
  );
  await close(page);
});

test("the call graph has stubs, clusters, a zoom, and is saved as DOT and SVG", { skip }, async () => {
  const page = await open(PROFILES.c, "view=graph&around=0&cl=file&n=10");
  assert.ok((await page.locator(".cluster").count()) > 0);
  assert.ok((await page.locator(".stub").count()) > 0);
  assert.match(await page.locator(".stub").first().textContent(), /^\+\d+ calle/);
  const before = await page.locator("svg.graph").getAttribute("viewBox");
  await page.keyboard.press("+");
  assert.notEqual(await page.locator("svg.graph").getAttribute("viewBox"), before);
  const dot = (await download(page, "Graph as DOT")).bytes.toString();
  assert.match(dot, /^digraph calls \{/);
  assert.match(dot, /n\d+ -> n\d+ \[label="/);
  const svg = (await download(page, "Picture as SVG")).bytes.toString();
  const isWellFormed = (text) =>
    page.evaluate(
      (text) => new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror") === null,
      text,
    );
  assert.ok(await isWellFormed(svg));
  assert.match(svg, /<title>main<\/title>/);
  await page.keyboard.press("t");
  await settle(page);
  const row = page.locator(
    "tbody tr:has(td:nth-child(3):has-text('main')):has(td:nth-child(4):has-text('shift'))",
  );
  assert.equal(await row.locator(".number").textContent(), "83,767");
  await close(page);
});

test(
  "the treemap has the costs of the tree, enters a function, and shows its callers",
  { skip },
  async () => {
    const page = await open(PROFILES.c, "view=treemap");
    const svg = (await download(page, "Picture as SVG")).bytes.toString();
    assert.match(svg, /<title>main: 85,123 Ir inclusive/);
    assert.match(svg, /<title>self cost of sort_grains&#39;2: 32,108 Ir/);
    const canvas = page.locator('canvas[aria-label^="Treemap"]');
    await canvas.focus();
    for (let level = 0; level < 4; level++) await page.keyboard.press("ArrowDown");
    assert.match(await spoken(page), /^main: /);
    await page.keyboard.press("Enter");
    await settle(page);
    assert.match(await page.locator(".crumbs").textContent(), /begins with main/);
    await page.getByRole("button", { name: "Callers", exact: true }).first().click();
    await settle(page);
    const callers = (await download(page, "Picture as SVG")).bytes.toString();
    assert.match(callers, /<title>\(below main\)&#39;2: /);
    await close(page);
  },
);

test("no share of overlapping levels of a recursion is shown", { skip }, async () => {
  const page = await open(PROFILES.c, `view=graph&${selecting(functionRow(mill, "sort_grains'2"))}`);
  const labels = await page.locator(".arc text").allTextContents();
  assert.ok(labels.includes("328×"), labels.join(" "));
  for (const label of labels) assert.ok(parseFloat(label) <= 100 || !label.includes("%"), label);
  await close(page);
});

test(
  "an inclusive cost that is a limit has its mark and reason, also in the call graph",
  { skip },
  async () => {
    const words = [`${corpus}dialects/ruby-prof.txt`];
    const row = functionRow(words[0], "Mill::grind");
    assert.ok(row.inclusive_is_upper_bound);
    const reason = "at most the total: the costs of its calls add up to more";
    const page = await open(words, "view=functions");
    const cost = page.locator(`#row-${row.id} td:nth-child(2) .cost`);
    assert.deepEqual(
      [await cost.locator(".number").textContent(), await cost.getAttribute("title")],
      [`≤${row.inclusive.wall_time}`, reason],
    );
    await close(page);
    const graph = await open(words, "view=graph&around=0&min=0");
    const node = graph.locator(".graph .node:has(text:text-is('Mill::grind'))");
    assert.match(await node.textContent(), /≤100\.0%/);
    const said = await node.getAttribute("aria-label");
    assert.ok(said.includes(": ≤393 wall_time") && said.includes(reason), said);
    assert.match((await download(graph, "Graph as DOT")).bytes.toString(), /label="Mill::grind\\n≤100\.0%"/);
    assert.match((await download(graph, "Picture as SVG")).bytes.toString(), />≤100\.0%/);
    await close(graph);
  },
);

test("a group has its colour in all pictures, wherever they begin", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-colours-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "callgrind.out.colours");
  // A start-up object that is first in all trees, nine with cost, of which the last ones come first in the deeper tree.
  const body = Array.from(
    { length: 9 },
    (_, nth) => `ob=/lib/o${nth}.so\nfl=(unknown)\nfn=f${nth}\n1 ${100 - nth}\n`,
  );
  const calls = Array.from(
    { length: 9 },
    (_, nth) => `cob=/lib/o${nth}.so\ncfn=f${nth}\ncalls=1 1\n1 ${100 - nth}\n`,
  );
  const two = calls.slice(1, 3).reverse().join("");
  writeFileSync(
    file,
    `events: Ir\nob=/lib/start.so\nfn=start\n1 1\n${calls.join("")}` +
      `cob=/lib/start.so\ncfn=some\ncalls=1 1\n1 197\n${body.join("")}ob=/lib/start.so\nfn=some\n1 0\n${two}`,
  );
  const some = functionRow(file, "some");
  const f2 = functionRow(file, "f2");
  const root = new URLSearchParams({ z: some.name, zf: some.file, zo: some.object });
  const seen = new Map();
  for (const view of ["flame", `flame&${root}`, "treemap", `sandwich&${selecting(f2)}`]) {
    const page = await open([file], `view=${view}&col=object`);
    const names = await page
      .locator(".legend span[title]")
      .evaluateAll((list) => list.map((one) => [one.title, one.querySelector(".swatch").className]));
    assert.ok(names.length >= 2, view);
    for (const [name, colour] of names) {
      // Only the seven of the most cost have a colour of their own.
      if (!/o[0-6]\.so/.test(name)) continue;
      assert.equal(seen.get(name) ?? colour, colour, `${name} in ${view}`);
      seen.set(name, colour);
    }
    await close(page);
  }
  assert.equal(new Set(seen.values()).size, 7);
});

test("what the profile does not know has one word", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-unknown-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "callgrind.out.unknown");
  writeFileSync(file, "events: Ir\nfl=???\nfn=a\n1 10\nfl=b.c\nfn=b\n1 5\n");
  const page = await open([file], "view=overview");
  assert.match(await page.locator("section:has(h3:text('Files'))").textContent(), /\?\?\?/);
  await page.keyboard.press("2");
  await page.locator("select").last().waitFor();
  await page.getByLabel("Rows").selectOption("file");
  await settle(page);
  assert.equal(await page.locator("main tbody .name").first().textContent(), "???");
  await close(page);
});

test(
  "Esc goes one level up in the flame graph, as its hint says, and Home to the whole graph",
  { skip },
  async () => {
    const page = await open(PROFILES.c, "view=flame");
    const canvas = page.locator('canvas[aria-label^="Flame"]');
    await canvas.focus();
    for (let level = 0; level < 5; level++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await settle(page);
    const depth = () =>
      (new URLSearchParams(page.url().split("#")[1]).get("zp") ?? "").split("\n").filter(Boolean).length;
    const before = depth();
    assert.ok(before > 2);
    assert.match(
      await page.locator("main .hint").last().textContent(),
      /Esc goes one level up, Home to the whole graph/,
    );
    await canvas.last().focus();
    await page.keyboard.press("Escape");
    await settle(page);
    assert.equal(depth(), before - 1);
    await canvas.last().focus();
    await page.keyboard.press("Home");
    await settle(page);
    assert.equal(depth(), 0);
    await close(page);
  },
);

test("the call tree marks a cost that is a limit as Functions does", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-limit-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "callgrind.out.limit");
  writeFileSync(file, "events: Ir\nfn=root\n1 15\ncfn=a\ncalls=1 1\n1 200\nfn=a\n1 100\n");
  const page = await open([file], "view=tree");
  const cost = page.locator("tr:has(.fn:text-is('root')) td .cost").first();
  assert.equal(await cost.locator(".number").textContent(), "≤115");
  assert.match(await cost.getAttribute("title"), /at most the total: the costs of its calls add up to more/);
  await close(page);
});
