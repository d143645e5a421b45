// A server for work on the page, without the server of `gristmill view`: answers are made of the program's JSON reports.
// GRISTMILL=PROGRAM node mock/server.mjs PROFILE... [--base PROFILE] [--port N] [--sources FROM=TO]
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { answersOf } from "./answers.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: "string" },
    port: { type: "string", default: "4173" },
    sources: { type: "string", default: "" },
  },
});
if (positionals.length === 0) {
  console.error("usage: node mock/server.mjs PROFILE... [--base PROFILE] [--port N] [--sources FROM=TO]");
  process.exit(2);
}
const answers = answersOf({
  program: process.env.GRISTMILL ?? "gristmill",
  files: positionals,
  base: values.base ?? null,
  sources: values.sources,
});

/** The policy of the real server. */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
const types = {
  "index.html": "text/html; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "style.css": "text/css; charset=utf-8",
};

function reply(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

function answer(response, body) {
  try {
    const { scope, question } = JSON.parse(body);
    const maker = answers[question.kind];
    if (maker) reply(response, 200, maker(question, scope));
    else reply(response, 400, { error: `the mock server has no answer to ${question.kind}` });
  } catch (error) {
    const text = String(error.stderr || error.message);
    reply(response, 409, { error: text.replace(/^gristmill: (error: )?/, "").slice(0, 400) });
  }
}

const server = createServer((request, response) => {
  const file = request.url === "/" ? "index.html" : request.url.slice(1);
  if (request.method === "GET" && types[file]) {
    response.writeHead(200, { "content-type": types[file], "content-security-policy": policy });
    response.end(readFileSync(join(import.meta.dirname, "../dist", file)));
    return;
  }
  let body = "";
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    if (request.url === "/api/answer") answer(response, body);
    else if (request.url === "/api/loaded")
      reply(response, 200, { generation: answers.generation(), problem: null });
    else reply(response, 200, {});
  });
});
server.listen(Number(values.port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
