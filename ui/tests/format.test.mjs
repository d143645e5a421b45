// Tests of how numbers and names are written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL("../src/format.ts", import.meta.url))],
  bundle: true,
  write: false,
  format: "esm",
});
const format = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
);

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
  assert.deepEqual(format.shorter("std::map<int, Foo>::find(int const&)"), [
    "std::map<int, Foo>::find(int const&)",
    "std::map<int, Foo>::find(..)",
    "std::map<..>::find(..)",
    "map<..>::find(..)",
  ]);
  assert.deepEqual(format.shorter("(below main)"), ["(below main)"]);
  assert.equal(format.visible("a\u202eb"), "a\\u202eb");
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
  assert.equal(format.perCall(5, 0), "–");
  assert.equal(format.perCall(5, null), "–");
});

test("names fit their columns, very long ones are cut, and patterns are exact", () => {
  assert.equal(format.fitted("std::map<int, Foo>::find(int const&)", 20), "map<..>::find(..)");
  assert.equal(format.fitted("abcdefgh", 5), "abcd…");
  assert.match(format.visible("n".repeat(5000)), /^n{1000}… \(5,000 characters\)$/);
  assert.equal(format.exactly("operator++(int)"), "^operator\\+\\+\\(int\\)$");
  assert.ok(new RegExp(format.exactly("a.b|c[0]{2}")).test("a.b|c[0]{2}"));
});
