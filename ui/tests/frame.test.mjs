// What all views share: palette, keys, formulas, the address, the command line, reloading, hostile names.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import {
  carrier,
  close,
  corpus,
  download,
  functionRow,
  grouped,
  open,
  openSite,
  PROFILES,
  program,
  report,
  selecting,
  settle,
  SIZES,
  skip,
  spoken,
  VIEWS,
} from "./browser.mjs";

const [mill] = PROFILES.c;

test("the palette finds functions, views and actions", { skip }, async () => {
  const page = await open(PROFILES.c, "view=functions");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("by_wei");
  await page.waitForSelector("#choice-0:has-text('by_weight')");
  const { self } = functionRow(mill, "by_weight");
  assert.match(
    await page.locator("dialog .hint").textContent(),
    new RegExp(`1 function matches, self cost ${grouped(self.Ir)} Ir`),
  );
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal(await page.locator(".inspector h2").textContent(), "by_weight");
  await page.keyboard.press("Control+k");
  await page.keyboard.type(">call tree");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal(await page.locator("main.view-tree").count(), 1);
  await page.keyboard.press("Control+k");
  assert.match(await page.locator("#choices").textContent(), /recent/);
  await close(page);
});

test("the palette takes patterns, and tells functions of one name apart", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-twins-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "callgrind.out.twins");
  const functions = ["one/a.c", "two/a.c", "two/b.c"].map(
    (path, index) => `ob=/lib/${path.slice(0, 3)}.so\nfl=/src/${path}\nfn=twin\n1 ${30 - index}\n`,
  );
  writeFileSync(file, `events: Ir\n${functions.join("")}fn=alpha(int)\n1 5\nfn=beta\n1 4\n`);
  // A page for each: keys must not come while the palette closes.
  const choices = async (text, isAsked = true) => {
    const page = await open([file], "view=functions");
    await page.keyboard.press("Control+k");
    await page.keyboard.type(text);
    if (isAsked) await page.locator("dialog .hint:has-text(' match')").waitFor();
    await settle(page);
    const rows = await page.locator("#choices li").evaluateAll((list) => list.map((one) => one.textContent));
    await close(page);
    return rows;
  };
  assert.deepEqual(
    (await choices("twin")).map((text) => text.replace(/ · [\d.]+% self$/, "")),
    ["twinone.so", "twin/src/two/a.c · /lib/two.so", "twinb.c"],
  );
  // Brackets are text first.
  for (const [text, names] of [
    ["alpha(int)", ["alpha"]],
    ["alpha|eta$", ["alpha", "beta"]],
    ["^b.*a", ["beta"]],
  ])
    assert.deepEqual(
      (await choices(text)).map((row) => /^[a-z]*/.exec(row)[0]),
      names,
    );
  // What is not finished is not asked.
  assert.deepEqual(await choices("^(b", false), []);
});

test("a pattern is asked for once it is finished", { skip }, async () => {
  const page = await open(PROFILES.c, "view=functions");
  await page.keyboard.press("/");
  for (const text of ["^", "(", "s", "[", "io", "]", "|", "by"]) {
    await page.keyboard.type(text);
    await settle(page);
  }
  assert.match(await page.locator("main").textContent(), /The pattern is not finished: a bracket is open/);
  await page.keyboard.type(")");
  await settle(page);
  const rows = report("functions", "--limit", "0", "--no-fold-start-up", "--filter", "^(s[io]|by)", mill);
  assert.equal(await page.locator("tr[id^=row-]").count(), rows.functions.length);
  // The browser reports questions that are refused: none was.
  await close(page);
});

test(
  "Enter in the palette takes the choice for what was typed, also if that is not found yet",
  { skip },
  async () => {
    const page = await open(PROFILES.c, "view=functions");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("main");
    await page.waitForSelector("#choice-0:has-text('main')");
    await page.keyboard.press("Control+a");
    // In one task of the page, so that no answer comes between the text and Enter.
    await page.evaluate(() => {
      const input = document.querySelector("input.palette");
      input.value = "by_wei";
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    });
    await page.waitForFunction(() => document.querySelector(".inspector h2")?.textContent === "by_weight");
    assert.equal(await page.locator("dialog").count(), 0);
    await close(page);
  },
);

test("the list of keys has the key of each action", { skip }, async () => {
  const page = await open(PROFILES.changed, "view=compare");
  await page.setViewportSize({ width: 800, height: 600 });
  await page.keyboard.press("?");
  assert.equal(await page.locator("dialog").evaluate((dialog) => dialog.scrollTop), 0);
  const keys = await page.locator(".keys kbd").allTextContents();
  for (const key of [
    "1",
    "9",
    "/",
    "?",
    "[",
    "]",
    "x",
    "y",
    "Y",
    "t",
    "s",
    "e",
    "E",
    "i",
    "%",
    "r",
    "f",
    "m",
    "F",
    "u",
    "n",
    "p",
    "+",
    "-",
    "0",
  ]) {
    assert.ok(keys.includes(key), key);
  }
  await close(page);
});

test("single keys can be turned off", { skip }, async () => {
  const page = await open(PROFILES.c, "view=overview");
  await page.keyboard.press("Control+k");
  await page.keyboard.type(">turn single");
  await page.keyboard.press("Enter");
  await page.keyboard.press("2");
  await settle(page);
  assert.equal(await page.locator("main.view-overview").count(), 1);
  await close(page);
});

test("an event type by formula has the numbers of --derive, and a bad one a reason", { skip }, async () => {
  const [file] = PROFILES.events;
  const page = await open(PROFILES.events, "view=functions");
  await page.getByLabel("Event type", { exact: true }).selectOption({ label: "New by formula…" });
  await page.getByLabel("Name", { exact: true }).fill("Cost");
  await page.getByLabel("Formula").fill("Ir +* 3");
  await page.getByRole("button", { name: "Define" }).click();
  await page.waitForSelector("dialog .warn");
  assert.match(await page.locator("dialog .warn").textContent(), /formula|Cost/);
  await page.getByLabel("Formula").fill("Ir + 10 Bcm");
  await page.getByRole("button", { name: "Define" }).click();
  await settle(page);
  const { totals } = report("functions", "--derive", "Cost = Ir + 10 Bcm", "--event", "Cost", file);
  assert.match(await page.locator(".whole").textContent(), new RegExp(`100% = ${grouped(totals.Cost)} Cost`));
  await page.getByRole("button", { name: "Remove: Cost = Ir + 10 Bcm" }).click();
  await settle(page);
  assert.match(await page.locator(".whole").textContent(), / Ir, the total/);
  const unknown = new URLSearchParams({
    view: "functions",
    derive: "Cost = Ir + 10 Nosuch",
    e: "Cost",
  });
  const other = await open(PROFILES.events, unknown.toString());
  assert.match(await other.locator("main .note").textContent(), /`Cost` is derived without `Nosuch`/);
  await close(other);
  await close(page, { refused: true });
});

// The static viewer knows only the name of a file: its commands run where that file is.
test("the command below gives the same answer", { skip }, async () => {
  const page = await open(PROFILES.c, "view=functions&s=inclusive&q=%5Es&fold=1");
  await page.keyboard.press("Y");
  await page.waitForTimeout(100);
  const command = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(command, /^gristmill functions --sort inclusive --filter '\^s' --fold-recursion /);
  const text = execFileSync("sh", ["-c", `${command.replace(/^gristmill/, program)} --format json`], {
    cwd: dirname(mill),
    encoding: "utf8",
  });
  const rows = await page.locator("tr[id^=row-] td:nth-child(1) .number").allTextContents();
  assert.deepEqual(
    rows,
    JSON.parse(text).functions.map((row) => grouped(row.self.Ir)),
  );
  await close(page);
});

test("commands of all views run", { skip }, async () => {
  const selection = selecting(functionRow(mill, "sort_grains'2"));
  for (const view of [
    "overview",
    "functions&g=cycle",
    "functions&rel=1",
    "flame",
    "sandwich",
    "tree",
    "callers",
    "graph",
    "treemap",
    "source",
    "parts",
    "findings",
  ]) {
    const page = await open(PROFILES.c, `view=${view}&${selection}`);
    const command = await page.locator(".command code").getAttribute("title");
    assert.doesNotThrow(
      () =>
        execFileSync("sh", ["-c", command.replace(/^gristmill/, program)], {
          cwd: dirname(mill),
          stdio: "pipe",
        }),
      command,
    );
    await close(page);
  }
});

/** The JSON of the command below a view, and the command. */
async function commanded(words, hash) {
  const page = await open(words, hash);
  const command = await page.locator(".command code").getAttribute("title");
  await close(page);
  const run = command.replace(/^gristmill (\w+)/, `${program} $1 --format json`);
  const text = execFileSync("sh", ["-c", run], {
    cwd: carrier === "site" ? dirname(words[0]) : dirname(dirname(corpus)),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return { command, answer: JSON.parse(text) };
}

test("the command of the call tree has its limits, and that of a graph its depth", { skip }, async () => {
  const page = await open(PROFILES.c, "view=tree");
  const nodes = JSON.parse((await download(page, "Answer as JSON")).bytes.toString()).nodes;
  await close(page);
  const { answer } = await commanded(PROFILES.c, "view=tree");
  assert.equal(answer.nodes.length, nodes.length);
  const selection = selecting(functionRow(mill, "sort_grains"));
  const graph = await commanded(PROFILES.c, `view=graph&${selection}`);
  assert.match(graph.command, / --depth 6 /);
  const whole = await open(PROFILES.c, `view=graph&around=0&${selection}`);
  assert.equal(await whole.locator(".command").count(), 0);
  await close(whole);
});

test("a command says which function of a name is meant", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-twins-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "callgrind.out.twins");
  const functions = ["one", "two"].map(
    (object, index) => `ob=/lib/${object}.so\nfn=(below main)\n1 ${30 - index}\n`,
  );
  writeFileSync(file, `events: Ir\n${functions.join("")}`);
  const rows = report("functions", "--limit", "0", "--no-fold-start-up", file).functions;
  const twin = rows.find((row) => row.object === "/lib/two.so");
  for (const view of ["callers", "graph", "source", "sandwich"]) {
    const { answer } = await commanded([file], `view=${view}&${selecting(twin)}`);
    assert.deepEqual([answer.function.object, answer.inclusive.Ir], ["/lib/two.so", 29], view);
  }
  const from = new URLSearchParams({ z: twin.name, zf: twin.file, zo: twin.object });
  const { answer } = await commanded([file], `view=tree&${from}`);
  assert.equal(answer.nodes[0].inclusive.Ir, 29);
});

test(
  "names that begin like an option are no options of a command, and no formulas of a table",
  { skip },
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), "gristmill-dashes-"));
    t.after(() => rmSync(directory, { recursive: true }));
    const file = join(directory, "callgrind.out.dashes");
    const name = "-[NSString length]";
    writeFileSync(file, `events: Ir\nfl=a.m\nfn=${name}\n1 50\nfn==all\n3 5\n`);
    const key = selecting({ name, file: "a.m", object: "" });
    for (const view of ["callers", "sandwich", "graph", "source"]) {
      const { answer } = await commanded([file], `view=${view}&${key}`);
      assert.equal(answer.function.name, name, view);
    }
    const from = new URLSearchParams({ z: name, zf: "a.m", zo: "" });
    assert.equal((await commanded([file], `view=tree&${from}`)).answer.functions[0].name, name);
    const { answer } = await commanded([file], `view=functions&q=${encodeURIComponent("-\\[NS")}`);
    assert.equal(answer.functions.length, 1);
    const page = await open([file], "view=functions");
    await page.keyboard.press("y");
    await page.waitForFunction(() =>
      document.querySelector("[aria-live=polite]").textContent.startsWith("copied"),
    );
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(
      copied.split("\n").map((row) => row.split("\t")[3]),
      ["name", `'${name}`, "'=all"],
    );
    await close(page);
  },
);

test("a command is about what the view shows, while others show changes too", { skip }, async () => {
  for (const view of ["overview", "parts", "findings"]) {
    const page = await open(PROFILES.changed, `view=${view}&cmp=1`);
    const command = await page.locator(".command code").getAttribute("title");
    assert.doesNotMatch(command, /diff|callgrind\.out\.mill$/);
    await close(page);
  }
  const { command } = await commanded(PROFILES.changed, "view=tree&cmp=1&c=0");
  assert.match(command, /^gristmill diff --tree --min 0\.1 --limit 2000 /);
  const page = await open(PROFILES.c, "view=overview&hide=main");
  // `gristmill overview` cannot hide functions.
  assert.equal(await page.locator(".command").count(), 0);
  await close(page);
});

test("a view that waits for a function has no command", { skip }, async () => {
  const page = await open(PROFILES.c, "view=sandwich");
  await page.locator("text=No function is selected").waitFor();
  assert.equal(await page.locator(".command").count(), 0);
  await close(page);
});

test(
  "a link names a function; one that the profile does not have is said to be missing",
  { skip },
  async () => {
    const link = new URLSearchParams({
      view: "callers",
      f: "nosuch",
      ff: "a.c",
      fo: "",
    });
    const page = await open(PROFILES.c, link.toString());
    assert.match(await page.locator("main").textContent(), /Not in this profile.*nosuch/);
    await close(page);
  },
);

test("unknown keys of an address are kept, bad values are the default", { skip }, async () => {
  const page = await open(PROFILES.c, "view=nosuch&s=nosuch&later=1");
  await page.keyboard.press("2");
  await settle(page);
  assert.match(page.url(), /view=functions.*later=1/);
  assert.equal(page.url().includes("token"), false, "the token is not in the address");
  await close(page);
});

test("a typed address needs only the name of a function", { skip }, async () => {
  const page = await open(PROFILES.c, "view=callers&f=main");
  assert.equal(await page.locator("main h1").textContent(), "main");
  await close(page);
  const missing = await open(PROFILES.c, "view=callers&f=mai");
  assert.match(
    await missing.locator(".empty").first().textContent(),
    /mai, which this profile does not have/,
  );
  await close(missing);
});

test("every view of a file that is cut off says so", { skip }, async () => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-page-"));
  try {
    const file = join(directory, "callgrind.out.1");
    const text = readFileSync(mill, "utf8");
    writeFileSync(file, text.slice(0, text.lastIndexOf("\ntotals:")));
    for (const view of ["overview", "functions", "flame", "tree", "graph", "callers", "source"]) {
      const page = await open([file], `view=${view}&f=main`);
      assert.match(await page.locator("main .warn").first().textContent(), /cut off/, view);
      await close(page);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("the theme can be chosen by hand", { skip }, async () => {
  const page = await open(PROFILES.c, "view=flame");
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await ground(), "rgb(255, 255, 255)");
  await page.getByLabel("Use the dark theme").click();
  assert.equal(await ground(), "rgb(22, 24, 28)");
  await close(page);
});

test("a watched file is loaded again, and the place stays", { skip }, async () => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-page-"));
  try {
    const file = join(directory, "callgrind.out.1");
    copyFileSync(mill, file);
    const page = await open([file, "--watch"], `view=callers&${selecting(functionRow(mill, "main"))}`);
    const total = () => page.locator(".whole").textContent();
    assert.match(await total(), /121,608/);
    copyFileSync(`${corpus}callgrind/callgrind.out.mill-main`, file);
    const after = report("functions", file).totals.Ir;
    await page.waitForFunction(
      (text) => document.querySelector(".whole").textContent.includes(text),
      grouped(after),
      { timeout: 20_000 },
    );
    await settle(page);
    assert.equal(await page.locator("main h1").textContent(), "main");
    assert.match(page.url(), /view=callers/);
    assert.match(await spoken(page), /loaded again/);
    await close(page);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("hostile names show as they are, and run nothing", { skip }, async () => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-page-"));
  const markup = "<img src=x onerror=window.hacked=1>";
  const long = "n".repeat(1 << 20);
  const bidi = "left\u202eright\u200b";
  const formula = "=cmd()";
  const script = "<script>window.hacked=1</script>";
  try {
    const file = join(directory, "callgrind.out.1");
    const names = [markup, script, long, bidi, formula, "a\u2028b"];
    const blocks = names.map(
      (name, index) => `fl=${markup}${index}.c\nfn=${name}\n${index + 1} ${100 + index}\n`,
    );
    const calls = names.map((name, index) => `cfn=${name}\ncalls=1 1\n1 ${100 + index}\n`);
    writeFileSync(
      file,
      `# callgrind format\ncmd: ${markup}\nevents: Ir\n\n${blocks.join("\n")}\nfn=main\n1 5\n${calls.join("")}`,
    );
    for (const view of VIEWS) {
      const page = await open(
        [file],
        `view=${view}&${selecting({ name: "main", file: `${markup}5.c`, object: "" })}`,
      );
      assert.equal(await page.evaluate(() => window.hacked), undefined, view);
      assert.equal(await page.locator("main img, main script, .inspector img").count(), 0, view);
      await close(page, { refused: view === "assembly" });
    }
    const page = await open([file], "view=functions");
    const text = await page.locator("main").textContent();
    assert.ok(text.includes(markup));
    assert.ok(text.includes("left\\u{202e}right\\u{200b}"));
    assert.ok(text.length < 100_000, "a name of 1 MB is cut in tables");
    await page.locator("tr[id^=row-] button.name").filter({ hasText: /^nnn/ }).click();
    await settle(page);
    for (const view of ["2", "3", "4", "5", "6", "7", "8", "9"]) {
      await page.keyboard.press(view);
      await settle(page);
    }
    await page.keyboard.press("2");
    await page.keyboard.press("y");
    await page.waitForTimeout(200);
    await close(page);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("functions that are left out leave the total, and come back", { skip }, async () => {
  const page = await open(PROFILES.c, `view=functions&${selecting(functionRow(mill, "sort_grains"))}`);
  await page.keyboard.press("D");
  await settle(page);
  const rest = report("functions", "--limit", "0", "--no-fold-start-up", "--exclude", "^sort_grains$", mill);
  assert.match(
    await page.locator(".status .whole").textContent(),
    new RegExp(`100% = ${grouped(rest.totals.Ir)} Ir`),
  );
  const shown = await page
    .locator("main tbody tr:not(.pad) td:first-child .number")
    .evaluateAll((list) => list.slice(0, 10).map((cell) => cell.textContent.replace("~", "")));
  assert.deepEqual(
    shown,
    rest.functions.slice(0, 10).map((row) => grouped(row.self.Ir)),
  );
  assert.match(await page.locator(".status code").textContent(), /--exclude '\^sort_grains\$'/);
  await page.locator(".crumbs button").first().click();
  await settle(page);
  assert.match(await page.locator(".status .whole").textContent(), /100% = 121,608 Ir/);
  await close(page);
});

// After a reload, the static viewer asks for the profile again.
const skipOnSite = skip || (carrier === "site" ? "the profile has to be chosen again" : false);
test("a view is saved with a name, found again, and removed", { skip: skipOnSite }, async () => {
  const page = await open(PROFILES.c, "view=functions&q=grain&s=inclusive");
  await page.keyboard.press("b");
  await page.getByLabel("Name of this view").fill("grains <b>");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.keyboard.press("3");
  await settle(page);
  await page.reload();
  await settle(page);
  await page.keyboard.press("b");
  await page.locator(".saved-views .name:has-text('grains <b>')").click();
  await settle(page);
  assert.match(page.url(), /view=functions/);
  assert.match(page.url(), /q=grain/);
  assert.doesNotMatch(await page.evaluate(() => localStorage.getItem("gristmill.views")), /token/);
  await page.keyboard.press("b");
  await page.getByLabel("Remove grains <b>").click();
  assert.equal(await page.locator(".saved-views").count(), 0);
  await page.keyboard.press("Escape");
  await close(page);
});

for (const size of [...SIZES, { width: 1000, height: 700 }]) {
  test(`a viewer that waits for files shows all of its choices in ${size.width} px`, { skip }, async () => {
    const page = await openSite({ size });
    const wait = async (file) => {
      await page.setInputFiles("#profile-files", file);
      await page.locator("[role=alert]").waitFor();
    };
    for (const step of [
      () => {},
      () => wait({ name: "junk.txt", mimeType: "text/plain", buffer: Buffer.from("no") }),
    ]) {
      await step();
      const seen = await page.evaluate(() =>
        [...document.querySelectorAll("h1, [role=alert], input[type=file]")].map((element) => {
          const { left, top, width, height } = element.getBoundingClientRect();
          const hit = document.elementFromPoint(left + width / 2, top + height / 2);
          return element === hit || element.contains(hit);
        }),
      );
      assert.ok(seen.length >= 3 && seen.every((one) => one), JSON.stringify(seen));
    }
    await close(page);
  });
}

test("names of a tree end in their cell, and its rows have one line", { skip }, async () => {
  for (const [words, hash] of [
    [PROFILES.cpp, "view=tree"],
    [PROFILES.changed, "view=tree&cmp=1"],
  ]) {
    const page = await open(words, hash, { size: { width: 1100, height: 700 } });
    if (!hash.includes("cmp")) await page.locator("text=Open all").click();
    await settle(page);
    const rows = await page.locator("main tbody tr:not(.pad)").evaluateAll((list) =>
      list.map((row) => {
        const cell = [...row.cells].at(-1).getBoundingClientRect();
        const end = Math.max(
          ...[...[...row.cells].at(-1).children].map((one) => one.getBoundingClientRect().right),
        );
        return [row.offsetHeight < 30, end <= cell.right];
      }),
    );
    assert.ok(rows.length > 10 && rows.flat().every((one) => one), JSON.stringify(rows));
    await close(page);
  }
});

test("the title of the overview leaves room for the menu beside it", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-title-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "callgrind.out.title");
  writeFileSync(file, `cmd: ${"a/long/command/".repeat(40)}\nevents: Ir\nfn=a\n1 10\n`);
  const page = await open([file], "view=overview");
  const [title, menu] = await page.evaluate(() => {
    const text = document.createRange();
    text.selectNodeContents(document.querySelector(".headline h1"));
    return [
      text.getBoundingClientRect().right,
      document.querySelector("details.export").getBoundingClientRect().left,
    ];
  });
  assert.ok(title <= menu, `${title} ${menu}`);
  await close(page);
});

test("the list of keys is in sight as a whole", { skip }, async () => {
  const page = await open(PROFILES.changed, "view=functions");
  await page.keyboard.press("?");
  const [inside, all] = await page
    .locator("dialog")
    .evaluate((dialog) => [dialog.clientHeight, dialog.scrollHeight]);
  assert.ok(all <= inside, `${all} of ${inside}`);
  await close(page);
});

test("titles are whole in 800 pixels, and nothing is out of reach in 320", { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-narrow-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "callgrind.out.narrow");
  const name = `void app::multiply<double>(${Array(6).fill("app::Matrix<double, 60>&").join(", ")})`;
  writeFileSync(file, `events: Ir Dr\nfl=a.c\nfn=${name}\n1 1000000 1\nfn=short\n2 999999 1\n`);
  for (const view of ["callers", "source"]) {
    const page = await open([file], `view=${view}&${selecting({ name, file: "a.c", object: "" })}`, {
      size: { width: 800, height: 600 },
    });
    const [inside, all] = await page
      .locator("main h1")
      .evaluate((title) => [title.clientHeight, title.scrollHeight]);
    assert.ok(all <= inside, `${view}: ${all} of ${inside}`);
    await close(page);
  }
  const page = await open([file, "--base", file], "view=functions", { size: { width: 320, height: 640 } });
  const seen = await page.evaluate(() =>
    [...document.querySelectorAll(".top button, .top select, main tbody .name")].map((element) => {
      const { left, right, width, height, top } = element.getBoundingClientRect();
      const hit = document.elementFromPoint(left + width / 2, top + height / 2);
      return left >= 0 && right <= innerWidth && width > 20 && (element === hit || element.contains(hit))
        ? ""
        : element.outerHTML.slice(0, 80);
    }),
  );
  assert.ok(seen.length >= 9);
  assert.deepEqual(
    seen.filter((one) => one !== ""),
    [],
  );
  await close(page);
});
