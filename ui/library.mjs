// Packs the library in WebAssembly for dist: node library.mjs FILE. `cargo xtask web-library` builds it and calls this.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const binaryen = dirname(createRequire(import.meta.url).resolve("binaryen/package.json"));
const dist = join(import.meta.dirname, "dist");
const directory = mkdtempSync(join(tmpdir(), "gristmill-"));
const optimised = join(directory, "library.wasm");
// What all browsers have had since 2022.
const features = [
  "bulk-memory",
  "bulk-memory-opt",
  "multivalue",
  "mutable-globals",
  "nontrapping-float-to-int",
  "reference-types",
  "sign-ext",
].map((feature) => `--enable-${feature}`);
// Functions that call what was duplicate are duplicates themselves then, so a second round finds more.
const round = ["--duplicate-function-elimination", "--memory-packing", "--remove-unused-module-elements"];
// What the compiler leaves: names of blocks that no branch has, blocks in blocks, and locals in an order that compresses badly.
const tidy = ["--remove-unused-names", "--merge-blocks", "--vacuum", "--reorder-locals"];
// Stores that are never read, tests whose outcome is known, and what that leaves: together half a percent once compressed.
const simple = [
  "--simplify-locals-notee-nostructure",
  "--rse",
  "--optimize-instructions",
  "--remove-unused-brs",
  "--vacuum",
];
// What a second round of these leaves to move and to join.
const moved = ["--code-pushing", "--merge-locals", "--vacuum", "--reorder-locals"];
// Code that ends alike is there once. Branches and blocks are needless then, and things move again.
const folded = ["--code-folding", "--remove-unused-brs", "--remove-unused-names", "--merge-blocks"];
// Locals that are read once are their values, and those that are not needed at the same time are one.
const joined = [
  "--simplify-locals-nostructure",
  "--vacuum",
  "--reorder-locals",
  "--coalesce-locals",
  "--reorder-locals",
];
// Few passes: with `-Oz` the library is an eighth smaller, but 9% larger once compressed, and answers take a third longer.
execFileSync(
  process.execPath,
  [
    join(binaryen, "bin/wasm-opt"),
    ...round,
    ...tidy,
    ...simple,
    ...tidy,
    ...simple,
    ...moved,
    ...folded,
    ...moved,
    ...joined,
    // Arguments that no caller needs to give, and what that leaves, twice.
    "--dae-optimizing",
    ...joined,
    ...simple,
    ...tidy,
    ...joined,
    ...simple,
    ...tidy,
    ...round,
    ...features,
    // Functions that are called most have short numbers.
    "--reorder-functions",
    "--strip-debug",
    "--strip-producers",
    process.argv[2],
    "-o",
    optimised,
  ],
  { stdio: "inherit" },
);
const bytes = readFileSync(optimised);
rmSync(directory, { recursive: true });
const packed = gzipSync(bytes, { level: 9 });
writeFileSync(join(dist, "library.wasm.gz"), packed);
const brotli = (data) =>
  brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: data.length } }).length;
const page = ["site.html", "app.js", "style.css"].map((name) => readFileSync(join(dist, name)));
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
console.log(
  `library: ${bytes.length} bytes; with the page ${brotli(bytes) + sum(page.map(brotli))} compressed with brotli, ` +
    `${packed.length + sum(page.map((one) => gzipSync(one, { level: 9 }).length))} with gzip`,
);
