// Starts `gristmill view`, and serves the page of ui/dist instead of that which the program has built in.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, request as ask } from "node:http";
import { join, resolve as resolvePath } from "node:path";

const PAGES = { "/": "index.html", "/app.js": "app.js", "/style.css": "style.css" };

/** Starts the program in a directory. Resolves with its address and token. */
function start(program, words, cwd) {
  const child = spawn(resolvePath(program), ["view", "--no-open", ...words], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let said = "";
    const read = (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:(\d+)\/#token=([0-9A-Za-z_-]+)/.exec(said);
      if (found) resolve({ child, port: Number(found[1]), token: found[2] });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("error", reject);
    child.on("exit", () => reject(new Error(`gristmill view ended: ${said}`)));
  });
}

/** Passes a request on to the program, as if it were sent to it. */
function pass(request, response, port, page) {
  const headers = { ...request.headers, host: `127.0.0.1:${port}` };
  if (headers.origin) headers.origin = `http://127.0.0.1:${port}`;
  delete headers["sec-fetch-site"];
  const onward = ask(
    { host: "127.0.0.1", port, path: request.url, method: request.method, headers },
    (answer) => {
      // The page is that of ui/dist, under the policy of the program.
      if (page && answer.statusCode === 200) {
        const { "content-length": _, "content-encoding": __, ...kept } = answer.headers;
        response.writeHead(200, kept);
        response.end(readFileSync(join(import.meta.dirname, "../dist", page)));
        answer.resume();
        return;
      }
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

/** Serves profiles: words are those of `gristmill view`. */
export async function serve(program, words, port = 0, cwd = process.cwd()) {
  const started = await start(program, words, cwd);
  const server = createServer((request, response) => {
    const page = request.method === "GET" ? PAGES[request.url] : undefined;
    pass(request, response, started.port, page);
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${server.address().port}/`;
  return {
    address,
    token: started.token,
    url: `${address}#token=${started.token}`,
    close() {
      started.child.removeAllListeners("exit");
      started.child.kill();
      server.closeAllConnections();
      server.close();
    },
  };
}
