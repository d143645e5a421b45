// Answers questions with the library in WebAssembly, as the worker of the page does: it does a step ahead while there is none.
// `cargo xtask bench view --library` runs it: node dev/library.mjs LIBRARY PROFILE, a question or an answer a line. The first line
// that it prints is the time of loading in milliseconds.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";

const [library, profile] = process.argv.slice(2);
const module = await WebAssembly.compile(gunzipSync(readFileSync(library)));
const contents = readFileSync(profile);
const { exports } = await WebAssembly.instantiate(module, { page: { progress() {} } });

function put(bytes) {
  const start = exports.buffer(bytes.length) >>> 0;
  if (start === 0) throw new Error("the profile does not fit into the memory of WebAssembly");
  new Uint8Array(exports.memory.buffer).set(bytes, start);
}

function answer() {
  const start = exports.answer() >>> 0;
  return Buffer.from(exports.memory.buffer, start, exports.answer_length()).toString();
}

const start = performance.now();
put(new TextEncoder().encode(profile));
exports.name();
put(contents);
exports.add(0);
if (exports.open() !== 0) throw new Error(answer());
console.log(Math.round(performance.now() - start));

const questions = [];
let isAtEnd = false;
let wake = () => {};
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  questions.push(line);
  wake();
});
lines.on("close", () => {
  isAtEnd = true;
  wake();
});
for (let step = 0, hasMore = true; ;) {
  // Lets lines come in.
  await new Promise((resolve) => setImmediate(resolve));
  const question = questions.shift();
  if (question !== undefined) {
    put(new TextEncoder().encode(question));
    exports.ask();
    process.stdout.write(`${answer()}\n`);
  } else if (isAtEnd) {
    break;
  } else if (hasMore) {
    hasMore = exports.prepare(step++) !== 0;
  } else {
    await new Promise((resolve) => (wake = resolve));
  }
}
