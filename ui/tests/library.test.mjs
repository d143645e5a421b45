// The library in WebAssembly gives the answers of the program, byte for byte.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { PROFILES, filesOf, program, report, skip } from "./browser.mjs";

const bytes = skip ? null : gunzipSync(readFileSync(join(import.meta.dirname, "../dist/library.wasm.gz")));
const module = bytes && new WebAssembly.Module(bytes);

/** A library with files. */
function load({ profile, base }) {
  const loaded = [];
  const { exports } = new WebAssembly.Instance(module, {
    page: { progress: (bytes) => loaded.push(bytes) },
  });
  const put = (data) => {
    const start = exports.buffer(data.length) >>> 0;
    new Uint8Array(exports.memory.buffer).set(data, start);
  };
  const answer = () => {
    const start = exports.answer() >>> 0;
    return Buffer.from(exports.memory.buffer.slice(start, start + exports.answer_length())).toString();
  };
  let all = 0;
  for (const [role, files] of [profile, base].entries()) {
    for (const file of files) {
      put(Buffer.from(file));
      exports.name();
      const data = readFileSync(file);
      all += data.length;
      put(data);
      exports.add(role);
    }
  }
  assert.equal(exports.open(), 0, answer());
  assert.equal(loaded.at(-1), all, "the progress ends with all bytes");
  return (request) => {
    put(Buffer.from(JSON.stringify(request)));
    return { isRefused: exports.ask() !== 0, text: answer() };
  };
}

function questions(file, isCompared) {
  const [first, second] = report("functions", "--limit", "0", "--no-fold-start-up", file).functions;
  const graph = {
    kind: "graph",
    callers: 2,
    callees: 5,
    nodes: 60,
    min_share: 5,
    cluster: "object",
  };
  return [
    { kind: "overview", limit: 10 },
    {
      kind: "functions",
      group: "function",
      sort: "self_cost",
      start: 0,
      count: 1000,
    },
    {
      kind: "functions",
      group: "object",
      sort: "inclusive",
      start: 0,
      count: 50,
    },
    {
      kind: "functions",
      group: "function",
      sort: "name",
      filter: "^m",
      start: 0,
      count: 50,
    },
    { kind: "find", name: first.name, file: first.file, object: first.object },
    { kind: "search", text: "a", limit: 20 },
    { kind: "search", text: "(?i)\\bM\\w+", is_pattern: true, limit: 20 },
    { kind: "tree", min_share: 5, max_depth: 20, limit: 500 },
    { kind: "flame", order: "cost", resolution: 1000 },
    { kind: "flame", order: "name", resolution: 500, inverted: true },
    {
      kind: "flame",
      from: (second ?? first).id,
      order: "cost",
      resolution: 1000,
    },
    graph,
    { ...graph, around: first.id },
    { kind: "treemap", width: 1000, height: 700 },
    { kind: "parts" },
    { kind: "findings", limit: 50 },
    ...(isCompared
      ? [
          {
            kind: "changes",
            group: "function",
            sort: "self_change",
            filter: "",
            limit: 50,
          },
        ]
      : []),
  ];
}

for (const [name, words] of Object.entries(PROFILES)) {
  test(`the answers about ${name} are those of the program`, { skip }, () => {
    const files = filesOf(words);
    const ask = load(files);
    for (const question of questions(files.profile[0], files.base.length > 0)) {
      const { isRefused, text } = ask({ question });
      const of = JSON.stringify(question);
      let expected;
      try {
        const base = files.base.length > 0 ? ["--base", ...files.base] : [];
        expected = execFileSync(
          program,
          ["view", "--answer", JSON.stringify({ question }), ...files.profile, ...base],
          {
            encoding: "utf8",
            maxBuffer: 1 << 28,
            stdio: ["ignore", "pipe", "pipe"],
          },
        );
      } catch (error) {
        assert.ok(isRefused, of);
        assert.ok(error.stderr.includes(JSON.parse(text).error), of);
        continue;
      }
      assert.equal(isRefused, false, `${of} ${text}`);
      assert.equal(text, expected.trimEnd(), of);
    }
  });
}

test("what is no profile and no question is refused with a reason", { skip }, () => {
  const ask = load({ profile: [filesOf(PROFILES.c).profile[0]], base: [] });
  assert.match(JSON.parse(ask({ question: { kind: "nosuch" } }).text).error, /not a question/);
  assert.match(JSON.parse(ask({ question: { kind: "source", function: 1e6 } }).text).error, /no function/);
});

test("a file that looks like the form of exported pages is text, as it is for the program", { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), "gristmill-"));
  try {
    const file = join(directory, "two.out");
    // In the form, the second line would be `1 900`.
    const templates = ["\u0002", "1 900"].map((text) => String.fromCharCode(text.length) + text);
    const lines = "\u0005\u0000\u0000\u0000\u0001\u0000";
    writeFileSync(file, "\0columns\u0002" + templates.join("") + lines + "\nevents: Ir\nfn=main\n1 5\n\n");
    const question = { kind: "functions", group: "function", sort: "name", filter: "", start: 0, count: 9 };
    const expected = execFileSync(program, ["view", "--answer", JSON.stringify({ question }), file], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    assert.match(expected, /"self":5\b|\b5\b/);
    assert.equal(load({ profile: [file], base: [] })({ question }).text, expected.trimEnd());
  } finally {
    rmSync(directory, { recursive: true });
  }
});
