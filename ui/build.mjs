// Builds ui/dist, which is committed: the same sources give the same bytes.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { minify } from "terser";

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
/** Bundles a script and minifies it once more: 4% of its compressed size. */
const buildScript = async (options) => {
  const bundled = await build({ ...common, ...options, write: false, format: "iife" });
  const { code } = await minify(bundled.outputFiles[0].text, {
    ecma: 2020,
    compress: { passes: 3 },
    format: { preamble: options.banner?.js },
    toplevel: true,
  });
  return code;
};
const worker = await buildScript({ entryPoints: ["src/worker/worker.ts"] });
const app = await buildScript({
  entryPoints: ["src/main.tsx"],
  jsx: "automatic",
  jsxImportSource: "preact",
  // Part of the page, since a worker with an address of its own would not be under the policy of the page.
  define: { WORKER_SCRIPT: JSON.stringify(worker) },
  banner: {
    js: "/* Contains Preact and @preact/signals (MIT licence, Copyright Jason Miller and Preact contributors). */",
  },
});
await writeFile(join(dist, "app.js"), app + "\n");
await build({ ...common, entryPoints: ["src/style.css"], outfile: join(dist, "style.css") });

// The three documents: of the server, of web space, and a page in one file.
const [document, script, style] = await Promise.all([
  readFile(join(here, "src/index.html"), "utf8"),
  readFile(join(dist, "app.js"), "utf8"),
  readFile(join(dist, "style.css"), "utf8"),
]);
const replaced = (text, from, to) => {
  if (text.split(from).length !== 2) throw new Error(`src/index.html has not exactly one ${from}`);
  return text.replace(from, () => to);
};
const LINK = '<link rel="stylesheet" href="style.css" />';
const SCRIPT = '<script src="app.js" defer></script>';
const policy = (scripts, styles, connections) =>
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${scripts} 'wasm-unsafe-eval'; ` +
  `style-src ${styles}; img-src data: blob:; connect-src ${connections}; worker-src blob:; base-uri 'none'; ` +
  `form-action 'none'" />`;
const withPolicy = (text, carrier, ...sources) =>
  replaced(
    replaced(text, '<html lang="en">', `<html lang="en" data-carrier="${carrier}">`),
    '<meta charset="utf-8" />',
    `<meta charset="utf-8" />\n    ${policy(...sources)}`,
  );
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style))
  throw new Error("the page ends its own element");
const single = replaced(replaced(document, LINK, `<style>${style}</style>`), `    ${SCRIPT}\n`, "");
await writeFile(join(dist, "index.html"), document);
await writeFile(join(dist, "site.html"), withPolicy(document, "site", "'self'", "'self'", "'self'"));
// The program puts the library and the files in place of the comment, before the script that reads them.
await writeFile(
  join(dist, "export.html"),
  replaced(
    withPolicy(single, "export", hash(script), hash(style), "'none'"),
    "  </body>",
    `    <!-- files -->\n    <script>${script}</script>\n  </body>`,
  ),
);
