// Overview, functions, callers, tree, parts, findings: their numbers are those of the program's reports.
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

/** The numbers of the first cells of table rows. */
async function numbers(page, rows, column) {
  return page
    .locator(rows)
    .evaluateAll(
      (list, at) => list.map((row) => row.cells[at]?.querySelector(".number")?.textContent.trim()),
      column,
    );
}

test(
  "the overview has the total, the most expensive functions and the path of `gristmill overview`",
  { skip },
  async () => {
    const answer = report("overview", mill);
    const page = await open(PROFILES.c, "view=overview");
    assert.equal(await page.locator(".big").first().textContent(), grouped(answer.totals.Ir));
    const hottest = await numbers(page, "section:has(h3:text('Highest self cost')) tbody tr", 0);
    assert.deepEqual(
      hottest,
      answer.hottest.slice(0, 8).map((row) => grouped(row.self.Ir)),
    );
    const steps = answer.path.steps.filter((step) => !step.is_start_up);
    const path = await numbers(page, "section:has(h3:text('Most expensive path')) tbody tr", 0);
    assert.deepEqual(
      path.slice(1, 1 + steps.length),
      steps.map((step) => grouped(step.inclusive.Ir)),
    );
    assert.match(
      await page.locator(".verdict").textContent(),
      /sort_grains'2 has the highest self cost: 26\.4%/,
    );
    await close(page);
  },
);

for (const [key, sort] of [
  ["Self", "self"],
  ["Inclusive", "inclusive"],
  ["Calls", "calls"],
]) {
  test(`functions sorted by ${sort} are those of \`gristmill functions\``, { skip }, async () => {
    const rows = report("functions", "--limit", "0", "--no-fold-start-up", "--sort", sort, mill).functions;
    const page = await open(PROFILES.c, `view=functions&s=${sort === "self" ? "inclusive" : "self_cost"}`);
    await page.getByRole("button", { name: key, exact: true }).click();
    await settle(page);
    assert.match(await page.locator("th[aria-sort=descending]").textContent(), new RegExp(key));
    const shown = await page
      .locator("tr[id^=row-]")
      .evaluateAll((list) =>
        list
          .slice(0, 40)
          .map((row) =>
            [...row.cells].slice(0, 3).map((cell) => (cell.querySelector(".number") ?? cell).textContent),
          ),
      );
    const expected = rows.slice(0, 40).map((row) => [row.self.Ir, row.inclusive.Ir, row.calls].map(grouped));
    const column = ["Self", "Inclusive", "Calls"].indexOf(key);
    // Equal keys may have any order: the column of the key, and the rows as a set where it is unique.
    assert.deepEqual(
      shown.map((row) => row[column]),
      expected.map((row) => row[column]),
    );
    assert.deepEqual(shown[0], expected[0]);
    await close(page);
  });
}

test("a filter keeps the matching functions, and their sum is that of the report", { skip }, async () => {
  const rows = report("functions", "--limit", "0", "--no-fold-start-up", "--filter", "^s", mill).functions;
  const page = await open(PROFILES.c, "view=functions");
  await page.keyboard.press("/");
  await page.keyboard.type("^s");
  await settle(page);
  assert.equal(await page.locator("tr[id^=row-]").count(), rows.length);
  const sum = rows.reduce((total, row) => total + row.self.Ir, 0);
  assert.match(
    await page.locator(".tools [role=status]").textContent(),
    new RegExp(`^${rows.length} rows, self ${grouped(sum)} `),
  );
  assert.match(page.url(), /q=%5Es/);
  await close(page);
});

test("groups are those of the report, and one of them opens its functions", { skip }, async () => {
  const groups = report("functions", "--limit", "0", "--group", "file", mill).functions;
  const page = await open(PROFILES.c, "view=functions&g=file");
  assert.deepEqual(
    await numbers(page, "main tbody tr:not(.pad)", 0),
    groups.map((row) => grouped(row.self.Ir)),
  );
  await page.locator("main tbody tr:not(.pad) button").first().click();
  await settle(page);
  const inside = report(
    "functions",
    "--limit",
    "0",
    "--no-fold-start-up",
    "--file",
    "/sieve.c$",
    mill,
  ).functions;
  assert.equal(await page.locator("tr[id^=row-]").count(), inside.length);
  await close(page);
});

test("a second event type is beside the first", { skip }, async () => {
  const [file] = PROFILES.events;
  const rows = report("functions", "--limit", "0", "--no-fold-start-up", "--event", "Ir,Dr", file).functions;
  const page = await open(PROFILES.events, "view=functions");
  await page.getByLabel("Second event type").selectOption("Dr");
  await settle(page);
  assert.equal((await numbers(page, "tr[id^=row-]", 0))[0], grouped(rows[0].self.Ir));
  assert.equal((await numbers(page, "tr[id^=row-]", 2))[0], grouped(rows[0].self.Dr));
  assert.equal((await numbers(page, "tr[id^=row-]", 3))[0], grouped(rows[0].inclusive.Dr));
  await close(page);
});

test("percentages are of the total, or of the selection", { skip }, async () => {
  const row = functionRow(mill, "sort_grains");
  const page = await open(PROFILES.c, `view=functions&${selecting(row)}`);
  const share = () => page.locator(`#row-${row.id} td:nth-child(2) .share`).textContent();
  assert.equal(await share(), "57.7%");
  await page.keyboard.press("%");
  await settle(page);
  assert.equal(await share(), "100.0%");
  assert.match(await page.locator(".whole").textContent(), /100% = 70,180 Ir, sort_grains/);
  await close(page);
});

test(
  "percentages are of the total while the selection is left out, and again at the end",
  { skip },
  async () => {
    const row = functionRow(mill, "sort_grains");
    const first = functionRow(mill, "__tunables_init");
    const page = await open(PROFILES.c, `view=functions&${selecting(row)}`);
    const whole = () => page.locator(".whole").textContent();
    for (const [key, option] of [
      ["m", "--hide"],
      ["D", "--exclude"],
    ]) {
      await page.keyboard.press("%");
      await page.keyboard.press(key);
      await settle(page);
      const words = [option, `^${row.name}$`];
      const total = report("functions", ...words, mill).totals.Ir;
      assert.equal(await whole(), `100% = ${grouped(total)} Ir, the total: the selection has no cost here`);
      const share = await page.locator(`#row-${first.id} td:nth-child(1) .share`).textContent();
      assert.equal(share, `${((functionRow(mill, first.name, ...words).self.Ir / total) * 100).toFixed(1)}%`);
      assert.doesNotMatch(await page.locator(".command").textContent(), /relative/);
      await page.keyboard.press("u");
      await settle(page);
      assert.match(await whole(), /, the total$/);
      assert.doesNotMatch(page.url(), /rel=/);
    }
    await close(page);
  },
);

test("[ and ] walk the list, and back undoes a selection", { skip }, async () => {
  const page = await open(PROFILES.c, "view=functions");
  await page.keyboard.press("]");
  await settle(page);
  assert.equal(await page.locator(".inspector h2").textContent(), "sort_grains'2");
  await page.keyboard.press("]");
  await settle(page);
  assert.equal(await page.locator(".inspector h2").textContent(), "__tunables_init");
  await page.keyboard.press("[");
  await settle(page);
  assert.equal(await page.locator(".inspector h2").textContent(), "sort_grains'2");
  await page.goBack();
  await settle(page);
  assert.equal(await page.locator(".inspector h2").textContent(), "__tunables_init");
  await close(page);
});

test("the table is copied, and saved as CSV and JSON", { skip }, async () => {
  const rows = report("functions", "--limit", "0", "--no-fold-start-up", mill).functions;
  const page = await open(PROFILES.c, "view=functions");
  await page.keyboard.press("y");
  await page.waitForTimeout(100);
  const copied = (await page.evaluate(() => navigator.clipboard.readText())).split("\n");
  assert.equal(copied.length, rows.length + 1);
  assert.equal(
    copied[1],
    [rows[0].self.Ir, rows[0].inclusive.Ir, rows[0].calls, rows[0].name, rows[0].file, rows[0].object].join(
      "\t",
    ),
  );
  assert.match(await spoken(page), /copied/);
  const csv = await download(page, "Table as CSV");
  assert.equal(csv.name, "functions.csv");
  assert.match(
    csv.bytes.toString(),
    /^self Ir,inclusive Ir,calls,name,file,object\r\n32108,59896,340,sort_grains'2,/,
  );
  const json = await download(page, "Answer as JSON");
  assert.equal(JSON.parse(json.bytes).all, rows.length);
  await close(page);
});

test("callers and callees are those of `gristmill show`, with distance", { skip }, async () => {
  const answer = report("show", "by_weight", "--depth", "8", mill);
  const page = await open(PROFILES.c, `view=callers&${selecting(functionRow(mill, "by_weight"))}`);
  const list = (title) => numbers(page, `section[aria-label="${title}"] tbody tr`, 0);
  assert.deepEqual(
    await list("Callers"),
    answer.callers.rows.map((row) => grouped(row.cost.Ir)),
  );
  assert.deepEqual(
    await list("Indirect callers"),
    answer.far_callers.rows.map((row) => grouped(row.cost.Ir)),
  );
  const distances = await page
    .locator('section[aria-label="Indirect callers"] tbody td:nth-child(3)')
    .allTextContents();
  assert.deepEqual(
    distances,
    answer.far_callers.rows.map((row) => String(row.distance)),
  );
  await close(page);
});

test("the members of a cycle are listed, and its best call to cut is offered", { skip }, async () => {
  const answer = report("show", "coarse", mill);
  const page = await open(PROFILES.c, `view=callers&${selecting(functionRow(mill, "coarse"))}`);
  const members = await numbers(page, 'section:has(h3:has-text("Cycle")) table:first-of-type tbody tr', 0);
  assert.deepEqual(
    members.slice(0, answer.cycle.members.all),
    answer.cycle.members.rows.map((row) => grouped(row.self.Ir)),
  );
  // Shares of the cycle, as in `gristmill show`: calls within it may cost more than the member does by calls from outside.
  const caller = answer.callers.rows[0];
  const share = `${((100 * caller.cost.Ir) / answer.cycle.inclusive.Ir).toFixed(1)}%`;
  const shown = page.locator('section[aria-label="Callers"] tbody tr').first().locator("td").first();
  assert.ok((await shown.textContent()).includes(share), `${await shown.textContent()} has not ${share}`);
  if (answer.cycle.breaker) {
    await page.getByRole("button", { name: /^Cut / }).click();
    await settle(page);
    assert.match(page.url(), /cut=/);
    assert.match(await page.locator(".crumbs").textContent(), /cut: /);
  }
  await close(page);
});

test(
  "the call tree has the costs of `gristmill tree`, with its most expensive path open",
  { skip },
  async () => {
    const { nodes, functions } = report("tree", "--no-chains", "--limit", "0", "--min", "0.2", mill);
    const page = await open(PROFILES.c, "view=tree");
    const rows = await page
      .locator("tr[aria-level]")
      .evaluateAll((list) =>
        list.map((row) => [row.querySelector(".fn").textContent, row.querySelector(".number").textContent]),
      );
    const costs = new Map(
      nodes.map((node) => [`${functions[node.function].name} ${grouped(node.inclusive.Ir)}`, node]),
    );
    for (const [name, cost] of rows)
      assert.ok(costs.has(`${name} ${cost.replace("~", "")}`), `${name} ${cost}`);
    assert.equal(
      await page.locator("tr[aria-level='7'][aria-selected=true] .fn").textContent(),
      "sort_grains'2",
    );
    await close(page);
  },
);

test("the call tree is walked and opened by keys, and searched", { skip }, async () => {
  const page = await open(PROFILES.c, "view=tree");
  const count = () => page.locator("tr[aria-level]").count();
  await page.locator(".scroll").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await count(), 1);
  await page.keyboard.press("ArrowRight");
  assert.ok((await count()) > 1);
  await page.keyboard.press("*");
  await settle(page);
  const { nodes } = report("tree", "--no-chains", "--limit", "0", "--min", "0.2", mill);
  assert.equal(
    Number(await page.locator("table[role=treegrid]").getAttribute("aria-rowcount")),
    nodes.length + 1,
  );
  await page.keyboard.press("/");
  await page.keyboard.type("soak");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal(await page.locator(".inspector h2").textContent(), "soak");
  await close(page);
});

test("a tree begins with a function, and a crumb undoes it", { skip }, async () => {
  const { nodes } = report("tree", "--from", "sort_grains", "--no-chains", "--limit", "0", mill);
  const page = await open(PROFILES.c, `view=tree&${selecting(functionRow(mill, "sort_grains"))}`);
  await page.keyboard.press("F");
  await settle(page);
  assert.equal((await numbers(page, "tr[aria-level='1']", 0))[0], grouped(nodes[0].inclusive.Ir));
  await page.getByRole("button", { name: "Remove: begins with sort_grains" }).click();
  await settle(page);
  assert.equal((await numbers(page, "tr[aria-level='1']", 0))[0], "121,608");
  await close(page);
});

test("transforms are crumbs, and their numbers are those of the program's options", { skip }, async () => {
  const row = functionRow(mill, "sort_grains");
  const page = await open(PROFILES.c, `view=functions&s=inclusive&${selecting(row)}`);
  const inclusive = (id) => page.locator(`#row-${id} td:nth-child(2) .number`).textContent();
  await page.keyboard.press("m");
  await settle(page);
  const hidden = functionRow(mill, "shift", "--hide", "^sort_grains$");
  assert.equal(
    await page.locator(`#row-${hidden.id} td:nth-child(1) .number`).textContent(),
    grouped(hidden.self.Ir),
  );
  await page.getByRole("button", { name: /^Remove: merged into callers: sort_grains/ }).click();
  await settle(page);
  await page.goto(`${page.url()}&cyc=0`);
  await page.keyboard.press("f");
  await settle(page);
  const focused = report("functions", "--focus", "^sort_grains$", "--no-cycles", mill);
  assert.match(
    await page.locator(".whole").textContent(),
    new RegExp(`100% = ${grouped(focused.totals.Ir)} `),
  );
  await page.keyboard.press("u");
  await settle(page);
  assert.equal(await page.locator(".crumbs").count(), 0);
  assert.equal(await inclusive(row.id), grouped(row.inclusive.Ir));
  await close(page);
});

test("folded recursion keeps the selection by its name", { skip }, async () => {
  const folded = functionRow(mill, "shift", "--fold-recursion");
  const page = await open(PROFILES.c, `view=functions&${selecting(functionRow(mill, "shift"))}`);
  await page.keyboard.press("r");
  await settle(page);
  assert.equal(await page.locator(".inspector h2").textContent(), "shift");
  assert.equal(
    await page.locator(".inspector dd .number").first().textContent(),
    grouped(folded.inclusive.Ir),
  );
  await close(page);
});

test("parts are selected by a click, by Ctrl and by a drag, and all numbers follow", { skip }, async () => {
  const [file] = PROFILES.threads;
  const page = await open(PROFILES.threads, "view=parts");
  const total = () => page.locator(".whole").textContent();
  const bar = (text) => page.getByRole("button", { name: text });
  await bar(/thread 4, part 4:/).click();
  await settle(page);
  const one = report("functions", "--part", "4", "--thread", "4", file).totals.Ir;
  assert.match(await total(), new RegExp(`100% = ${grouped(one)} `));
  await bar(/thread 3, part 4:/).click({ modifiers: ["Control"] });
  await settle(page);
  const two = report("functions", "--part", "4", "--thread", "3-4", file).totals.Ir;
  assert.match(await total(), new RegExp(`100% = ${grouped(two)} `));
  assert.match(await page.locator(".top").textContent(), /Parts: 2 of 7/);
  await page.getByRole("button", { name: "Select all parts" }).click();
  await settle(page);
  const [from, to] = [
    await bar(/thread 2, part 1:/).boundingBox(),
    await bar(/thread 2, part 4:/).boundingBox(),
  ];
  await page.mouse.move(from.x + 10, from.y + 40);
  await page.mouse.down();
  await page.mouse.move(to.x + 10, to.y + 40, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const thread = report("functions", "--part", "1,4", "--thread", "2", file).totals.Ir;
  assert.match(await total(), new RegExp(`100% = ${grouped(thread)} `));
  await bar(/thread 2, part 1:/).hover();
  assert.match(await page.locator(".hover").textContent(), /written because of --dump-before=miller/);
  await close(page);
});

test("findings are those of `gristmill lint`", { skip }, async () => {
  const [found] = report("lint", PROFILES.xdebug2[0]).files;
  const page = await open(PROFILES.xdebug2, "view=findings");
  for (const rule of new Set(found.findings.map((one) => one.rule))) {
    const section = page.locator(`section.rule:has(.at:text-is("${rule}"))`);
    const shown = await section.locator("tbody tr").count();
    assert.equal(shown, found.findings.filter((one) => one.rule === rule).length, rule);
    // Folded, the rule stays with its count.
    const heading = await section.locator("h3").textContent();
    await section.locator("button").click();
    assert.equal(await section.locator("tbody tr").count(), 0);
    assert.equal((await section.locator("h3").textContent()).slice(1), heading.slice(1));
  }
  await close(page);
});

test("a function has its costs in all event types", { skip }, async () => {
  const [file] = PROFILES.events;
  const answer = report("show", "sort_grains", file);
  const page = await open(PROFILES.events, `view=callers&${selecting(functionRow(file, "sort_grains"))}`);
  await page.locator("details.more summary").click();
  await page.waitForSelector("details.more tbody tr");
  const rows = await page
    .locator("details.more tbody tr")
    .evaluateAll((list) =>
      list.map((row) => [
        row.cells[2].textContent,
        ...[0, 1].map((cell) => row.cells[cell].querySelector(".number")?.textContent),
      ]),
    );
  for (const name of answer.event_types) {
    const row = rows.find(([event]) => event === name);
    assert.deepEqual(row?.slice(1), [grouped(answer.inclusive[name]), grouped(answer.self[name])], name);
  }
  await close(page);
});

/** The function's own name, looked for from the end: without arguments, generic arguments, then without its path. */
function ownName(name) {
  if (/^\(below main\)/.test(name)) return name;
  let rest = name.replace(/ const$/, "");
  for (const [open, close] of ["()", "<>"]) {
    if (!rest.endsWith(close) || /operator\W*$/.test(rest)) continue;
    let depth = 0;
    let at = rest.length;
    do {
      at--;
      if (rest[at] === close) depth++;
      if (rest[at] === open) depth--;
    } while (depth > 0);
    rest = rest.slice(0, at);
  }
  return /(operator\W*|[\w~]+)$/.exec(rest)[0];
}

test("names fit their columns by meaning, at each width, and differ in a table", { skip }, async () => {
  const page = await open(PROFILES.cpp, "view=functions");
  const lines = () =>
    page.locator("main table tbody tr").evaluateAll((rows) =>
      rows
        .map((row) => row.querySelector(".name"))
        .filter((name) => name?.title)
        .map((name) => ({
          text: name.querySelector(".fn").textContent,
          whole: name.title.split("\n")[0],
          isCut: name.scrollWidth > name.clientWidth,
        })),
    );
  let longest = 0;
  for (const width of [800, 1100, 1440, 2200]) {
    await page.setViewportSize({ width, height: 900 });
    await settle(page);
    const shown = await lines();
    assert.ok(shown.length > 5);
    for (const { text, whole, isCut } of shown) {
      const own = ownName(whole);
      assert.ok(text.includes(own), `${text} has ${own} of ${whole} at ${width}`);
      assert.ok(!isCut, `${text} at ${width}`);
    }
    assert.equal(new Set(shown.map((line) => line.text)).size, shown.length, `${width}`);
    // Below 860 pixels the selection is no longer beside the table.
    const length = width < 860 ? 0 : shown.reduce((sum, line) => sum + line.text.length, 0);
    assert.ok(length >= longest, `a wider window shows no less: ${length} at ${width}, ${longest} before`);
    longest = length;
  }
  await close(page);
});

test("a saved or copied table has all rows, not only those around the ones in sight", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-rows-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "callgrind.out.many");
  // More than two questions for the most rows of a page.
  const names = Array.from({ length: 20_002 }, (_, index) => `f${index}`);
  writeFileSync(
    file,
    `events: Ir\n${names.map((name, index) => `fn=${name}\n1 ${50_000 - index}\n`).join("")}`,
  );
  const page = await open([file], "view=functions");
  await page.locator(".scroll").evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await settle(page);
  const csv = (await download(page, "Table as CSV")).bytes.toString().split("\r\n");
  assert.equal(csv.length, 1 + names.length);
  assert.deepEqual(
    csv.slice(1).map((row) => row.split(",")[3]),
    names,
  );
  assert.match(await spoken(page), /^saved functions\.csv, 20,002 rows$/);
  const json = JSON.parse((await download(page, "Answer as JSON")).bytes.toString());
  assert.deepEqual([json.start, json.rows.length, json.all], [0, names.length, names.length]);
  await page.keyboard.press("y");
  await page.waitForFunction(() =>
    document.querySelector("[aria-live=polite]").textContent.startsWith("copied"),
  );
  assert.match(await spoken(page), /^copied the table, 20,002 rows$/);
  assert.equal(
    (await page.evaluate(() => navigator.clipboard.readText())).split("\n").length,
    1 + names.length,
  );
  await close(page);
});

test("a table is not saved with rows of two versions of the profile", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-versions-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "callgrind.out.many");
  const write = (version) => {
    const rows = Array.from({ length: 10_002 }, (_, row) => `fn=${version}${row}\n1 ${50_000 - row}\n`);
    writeFileSync(file, `events: Ir\n${rows.join("")}`);
  };
  write("one");
  const page = await open([file, "--watch"], "view=functions");
  // The first page is on its way until the files were loaded again.
  let isHeld = false;
  await page.route("**/api/answer", async (route) => {
    const answer = await route.fetch();
    if (!isHeld && JSON.parse(route.request().postData()).question.count === 10_000) {
      isHeld = true;
      write("two");
      await page.locator("main button.name:has-text('two0')").waitFor();
    }
    await route.fulfill({ response: answer });
  });
  await page.keyboard.press("y");
  await page.waitForFunction(() =>
    /^(copied|not)/.test(document.querySelector("[aria-live=polite]").textContent),
  );
  assert.equal(await spoken(page), "not all rows could be read: the files were loaded again meanwhile");
  await page.keyboard.press("y");
  await page.waitForFunction(() =>
    document.querySelector("[aria-live=polite]").textContent.startsWith("copied"),
  );
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied.match(/\ttwo/g).length, 10_002);
  await close(page);
});

test("a saved table of changes has all rows of its side", { skip }, async () => {
  const words = [`${corpus}callgrind/callgrind.out.mill-dynamic`, "--base", mill];
  const page = await open(words, "view=functions&cmp=1");
  const rows = Number((await page.locator(".tools [role=status]").textContent()).split(" ")[0]);
  await page.locator(".scroll").evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await settle(page);
  const csv = (await download(page, "Table as CSV")).bytes.toString().split("\r\n");
  assert.ok(rows > 200);
  assert.equal(csv.length, 1 + rows);
  await close(page);
});

test("an inverted tree has the column of the report: costs without a caller", { skip }, async () => {
  const page = await open(PROFILES.c, "view=tree&inv=1");
  assert.deepEqual((await page.locator("main thead th").allTextContents()).slice(0, 2), [
    "Inclusive",
    "No caller",
  ]);
  const [heads] = (await download(page, "Table as CSV")).bytes.toString().split("\r\n");
  assert.equal(heads, "level,function,inclusive Ir,no caller Ir,calls,estimated");
  await page.locator("main label:has-text('inverted')").click();
  await settle(page);
  assert.equal(await page.locator("main thead th").nth(1).textContent(), "Self");
  await close(page);
});

test("arrows and Enter mean the row that they came to, also after a click", { skip }, async () => {
  for (const view of ["functions", "tree"]) {
    const page = await open(PROFILES.c, `view=${view}`);
    const name = () => page.locator(".inspector h2").textContent();
    await page.locator("main tbody button.name").first().click();
    await settle(page);
    const clicked = await name();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await settle(page);
    const reached = await name();
    assert.notEqual(reached, clicked);
    await page.keyboard.press("Enter");
    await settle(page);
    assert.equal(await page.locator("main.view-callers h1").first().textContent(), reached);
    await close(page);
  }
  const page = await open(PROFILES.c, "view=overview");
  await page.keyboard.press("2");
  await settle(page);
  await page.keyboard.press("ArrowDown");
  await settle(page);
  assert.equal(await page.locator("main tr[aria-selected=true]").getAttribute("aria-rowindex"), "2");
  await close(page);
});

test("a right click anywhere on a row opens the menu of its function", { skip }, async () => {
  const page = await open(PROFILES.c, "view=functions");
  await page.locator("tr[id^=row-]").nth(3).locator("td").first().click({ button: "right" });
  await page.getByRole("menu").waitFor();
  const name = await page.locator("tr[id^=row-] .fn").nth(3).textContent();
  assert.equal(await page.locator(".inspector h2").textContent(), name);
  await close(page);
});

test("a few Tabs lead into the table of a view that was gone to, and arrows at once", { skip }, async () => {
  const row = (page) => page.locator("main tr[aria-selected=true]").getAttribute("aria-rowindex");
  const page = await open(PROFILES.c, "view=overview");
  await page.keyboard.press("2");
  await settle(page);
  const isInTable = () => page.evaluate(() => document.activeElement.matches("main .scroll"));
  let tabs = 0;
  for (; tabs < 5 && !(await isInTable()); tabs++) await page.keyboard.press("Tab");
  assert.ok(await isInTable(), `${tabs} Tabs`);
  await page.keyboard.press("ArrowDown");
  await settle(page);
  assert.equal(await row(page), "2");
  await close(page);
  const other = await open(PROFILES.c, "view=overview");
  await other.getByRole("button", { name: "Functions", exact: true }).click();
  await settle(other);
  await other.keyboard.press("ArrowDown");
  await other.keyboard.press("ArrowDown");
  await settle(other);
  assert.equal(await row(other), "3");
  await close(other);
});
