// Tests of how numbers and names are written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

async function load(module) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../src/${module}`, import.meta.url))],
    bundle: true,
    write: false,
    format: "esm",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
const format = await load("format.ts");
const { distinct, fitted, shorter } = await load("names.ts");

test("numbers are grouped and exact beyond 2^53", () => {
  assert.equal(format.grouped(85123), "85,123");
  assert.equal(format.grouped("1152921504606846976"), "1,152,921,504,606,846,976");
  assert.equal(format.grouped(-1000), "−1,000");
  assert.equal(format.grouped(null), "–");
  assert.equal(format.signed(5), "+5");
});

test("a share that is not zero is never written as zero", () => {
  assert.equal(format.percentOf(9, 121608), "<0.1%");
  assert.equal(format.percentOf(0, 121608), "0%");
  assert.equal(format.percentOf(85123, 121608), "70.0%");
  assert.equal(format.percentOf(5, 0), "–");
});

test("names get shorter by meaning first, and hidden characters are visible", () => {
  assert.deepEqual(shorter("std::map<int, Foo>::find(int const&)"), [
    "std::map<int, Foo>::find(int const&)",
    "std::map<int, Foo>::find(..)",
    "std::map<..>::find(..)",
    "map<..>::find(..)",
    "map<..>::find",
    "find",
  ]);
  assert.deepEqual(shorter("(below main)"), ["(below main)"]);
  const shortest = (name) => shorter(name).at(-1);
  // An operator is the function itself, whatever it is made of.
  assert.equal(
    shortest("Hopper<Blend<long, char>, Blend<int, int> >::operator()(int, int) const"),
    "operator()",
  );
  assert.equal(shortest("std::ostream& std::operator<< <char>(std::ostream&, char)"), "operator<< <..>");
  assert.equal(shortest("Blend<int, short>::operator->() const"), "operator->");
  assert.equal(shortest("a::Big<int>::operator<(a::Big<int> const&)"), "operator<");
  assert.equal(shortest("int mill::Hopper<int, 8>::fold<f(int)>(int) const"), "fold<..>");
  assert.equal(shortest("(anonymous namespace)::turn(int)"), "turn");
  assert.equal(
    shortest("main::{lambda(int, int)#1}::operator()(int, int) const"),
    "{lambda(..)#1}::operator()",
  );
  assert.deepEqual(shorter("<alloc::vec::Vec<T, A> as core::iter::Extend<T>>::extend"), [
    "<alloc::vec::Vec<T, A> as core::iter::Extend<T>>::extend",
    "<alloc::vec::Vec<..> as core::iter::Extend<..>>::extend",
    "<Vec<..> as Extend<..>>::extend",
    "extend",
  ]);
  assert.equal(shortest("core::ops::function::FnOnce<fn(u8) -> u8>::call_once"), "call_once");
  assert.equal(shortest("a < b"), "a < b");
  // The suffix of a clone is no function.
  assert.equal(shortest("ptmalloc_init.part.0"), "ptmalloc_init.part.0");
  assert.equal(shortest("fmt::read.constprop.0.isra.2"), "read.constprop.0.isra.2");
  assert.equal(shortest("net/http.(*conn).serve"), "serve");
  assert.equal(format.visible("a\u202eb"), "a\\u{202e}b");
  assert.equal(format.base("/srv/demo/src/mill.c"), "mill.c");
  assert.equal(format.base("???"), "");
});

test("sums are exact beyond 2^53, and keep fractions", () => {
  assert.equal(format.sum([1, 2, null, "3"]), 6);
  assert.equal(format.sum(["9007199254740993", "9007199254740993"]), "18014398509481986");
  assert.equal(format.sum(["1.5", 2]), 3.5);
  assert.equal(format.negated("9007199254740993"), "-9007199254740993");
  assert.equal(format.negated(0), 0);
});

test("a cost per call has three digits, and none without calls", () => {
  assert.equal(format.perCall(70180, 6), "11,697");
  assert.equal(format.perCall(11518, 669), "17.2");
  assert.equal(format.perCall("36028797018963992", 1), "36,028,797,018,963,992");
  assert.equal(format.perCall("36028797018963993", 2), "18,014,398,509,481,997");
  assert.equal(format.perCall(5, 0), "–");
  assert.equal(format.perCall(5, null), "–");
});

test("names fit their columns, very long ones are cut, and patterns are exact", () => {
  assert.equal(fitted("std::map<int, Foo>::find(int const&)", 20), "map<..>::find(..)");
  assert.equal(fitted("abcdefgh", 5), "abcd…");
  const pushes = [
    "std::vector<int>::push(int)",
    "std::vector<std::map<int, long> >::push(std::map<int, long>)",
  ];
  assert.deepEqual(
    pushes.map((name) => fitted(name, 20)),
    ["vector<..>::push(..)", "vector<..>::push(..)"],
  );
  assert.deepEqual(
    pushes.map((name) => distinct(name, 20, pushes)),
    ["vector<int>::push", "vector<std::map…push"],
  );
  assert.match(format.visible("n".repeat(5000)), /^n{1000}… \(5,000 characters\)$/);
  assert.equal(format.patternOf("operator++(int)", false), "^operator\\+\\+\\(int\\)$");
  assert.equal(format.patternOf("step", true), "(?-i)^step$");
  assert.equal(format.patternOf("Step", true), "^Step$");
  assert.ok(new RegExp(format.patternOf("a.b|c[0]{2}", false)).test("a.b|c[0]{2}"));
});

test("what a file expands to has a limit", async () => {
  const { chunksOfGzip } = await load("worker/files.ts");
  const blob = new Blob([gzipSync(new Uint8Array(1 << 20))]);
  const length = async (limit) =>
    (await chunksOfGzip(blob, blob.stream(), limit)).reduce((sum, chunk) => sum + chunk.length, 0);
  assert.equal(await length(1 << 20), 1 << 20);
  await assert.rejects(length((1 << 20) - 1), RangeError);
});

test("a pattern with an open bracket or escape is not finished", () => {
  for (const open of ["(", "^(a|b", "[", "[]", "[^]", "[a(b]c(", "a\\", "(a[)]"])
    assert.equal(format.isUnfinished(open), true, open);
  for (const finished of ["", "a", "(a)", "[(]", "[]a]", "[[:alpha:](]", "\\(", "[\\]]", "a)", "(?x) a # ("])
    assert.equal(format.isUnfinished(finished), false, finished);
});

test("text with characters of patterns is a pattern, if it is one", () => {
  for (const pattern of ["a|b", "^a", "a.*b", "f(x)"]) assert.equal(format.isPattern(pattern), true, pattern);
  for (const text of ["main", "a::b", "operator(", "*a"]) assert.equal(format.isPattern(text), false, text);
});

test("each jump has the first lane that no shorter one takes in its rows", async () => {
  const { lanesOf } = await load("parts/lanes.tsx");
  let state = 1;
  const random = (limit) => (state = (state * 48271) % 2147483647) % limit;
  for (let round = 0; round < 200; round++) {
    const rows = 1 + random(400);
    const jumps = Array.from({ length: random(120) }, () => ({ from: random(rows), to: random(rows) }));
    const size = ({ from, to }) => Math.abs(to - from);
    const spans = [];
    let hidden = 0;
    for (const jump of [...jumps].sort((a, b) => size(a) - size(b))) {
      const [first, last] = [jump.from, jump.to].sort((a, b) => a - b);
      let lane = 0;
      while (spans.some((span) => span.lane === lane && span.first <= last && first <= span.last)) lane++;
      if (lane < 8) spans.push({ jump, lane, first, last });
      else hidden++;
    }
    const lanes = lanesOf(jumps);
    assert.equal(lanes.hidden, hidden);
    assert.equal(lanes.width, Math.max(0, ...spans.map(({ lane }) => lane + 1)));
    for (let row = 0; row < rows; row++) {
      const expected = spans.filter(({ first, last }) => first <= row && row <= last);
      assert.deepEqual(
        (lanes.rows.get(row) ?? []).map(({ jump, lane }) => [lane, jump]),
        expected.map(({ jump, lane }) => [lane, jump]),
      );
    }
  }
  // A look through all jumps for each takes a minute here.
  assert.equal(lanesOf(Array.from({ length: 100_000 }, (_, row) => ({ from: row, to: row + 1 }))).width, 2);
});
