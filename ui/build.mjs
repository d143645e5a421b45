// Builds ui/dist, which is committed: the same sources give the same bytes.
import { build } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");
await mkdir(dist, { recursive: true });
const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  target: ["es2022"],
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
};
await build({
  ...common,
  entryPoints: ["src/main.tsx"],
  outfile: join(dist, "app.js"),
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  banner: {
    js: "/* Contains Preact and @preact/signals (MIT licence, Copyright Jason Miller and Preact contributors). */",
  },
});
await build({ ...common, entryPoints: ["src/style.css"], outfile: join(dist, "style.css") });
await copyFile(join(here, "src/index.html"), join(dist, "index.html"));
