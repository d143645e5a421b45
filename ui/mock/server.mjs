// A server for work on the page: answers of the gristmill program's reports, without the server of `gristmill view`.
// GRISTMILL=path/to/gristmill node mock/server.mjs PROFILE [PORT]
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [profile, port = "4173"] = process.argv.slice(2);
if (!profile) {
  console.error("usage: node mock/server.mjs PROFILE [PORT]");
  process.exit(2);
}
const run = (...args) =>
  JSON.parse(
    execFileSync(process.env.GRISTMILL ?? "gristmill", [...args, "--format", "json"], {
      maxBuffer: 1 << 30,
      encoding: "utf8",
    }),
  );
const all = run("functions", "--limit", "0", profile);
const head = Object.fromEntries(
  [
    "event_types",
    "events",
    "totals",
    "parts",
    "selected_parts",
    "damage",
    "findings",
    "title",
    "creator",
    "other_event_types",
    "notes",
  ].map((key) => [key, all[key]]),
);
const rows = all.functions,
  event = all.event_types[0],
  cost = (costs) => Number(costs?.[event] ?? 0);
const byId = new Map(rows.map((row) => [row.id, row]));
const show = (id, depth, limit) =>
  run("show", byId.get(id)?.name ?? "", "--depth", String(depth), "--limit", String(limit), profile);
const tree = (q) =>
  run(
    "tree",
    "--limit",
    "0",
    "--min",
    "0.2",
    ...(q.inverted ? ["--inverted"] : []),
    ...(q.from != null ? ["--from", byId.get(q.from).name] : []),
    profile,
  );
const sorts = {
  self_cost: (a, b) => cost(b.self) - cost(a.self),
  inclusive: (a, b) => cost(b.inclusive) - cost(a.inclusive),
  calls: (a, b) => (b.calls ?? 0) - (a.calls ?? 0),
  name: (a, b) => a.name.localeCompare(b.name),
};
const answers = {
  summary: () => ({
    head,
    files: [{ name: profile, bytes: statSync(profile).size }],
    event_types: all.events.map((column) => ({ ...column, total: head.totals[column.name] })),
    functions: rows.length,
    calls: 0,
    cycles: 0,
    base: null,
    damage: [],
    findings: 0,
    has: {
      calls: true,
      call_counts: true,
      lines: true,
      addresses: false,
      jumps: false,
      several_parts: head.parts > 1,
      sources: false,
      programs: false,
    },
  }),
  overview: () => run("overview", profile),
  functions: (q) => {
    const matching = rows.filter((row) => row.name.includes(q.filter)).sort(sorts[q.sort] ?? sorts.self_cost);
    if (q.ascending && q.sort !== "name") matching.reverse();
    return {
      head,
      all: matching.length,
      matched: { [event]: matching.reduce((sum, row) => sum + cost(row.self), 0) },
      start: q.start,
      rows: matching.slice(q.start, q.start + q.count),
    };
  },
  function: (q) => show(q.function, q.depth, q.limit),
  search: (q) => {
    const found = rows.filter((row) => row.name.toLowerCase().includes(q.text.toLowerCase()));
    return {
      all: found.length,
      matched: { [event]: found.reduce((sum, row) => sum + cost(row.self), 0) },
      functions: found.slice(0, q.limit),
      files: [],
      objects: [],
    };
  },
  tree,
  flame: (q) => {
    const { nodes, functions, basis, guessed } = tree(q),
      x = [],
      next = [],
      root = cost(nodes[0].inclusive) || 1;
    nodes.forEach((node, i) => {
      x[i] = node.parent === null ? 0 : next[node.parent];
      next[i] = x[i];
      if (node.parent !== null) next[node.parent] += cost(node.inclusive) / root;
    });
    return {
      head,
      basis,
      guessed,
      functions: functions.map((f) => ({ ...f, all: byId.get(f.id)?.inclusive ?? head.totals })),
      function: nodes.map((n) => n.function),
      parent: nodes.map((n) => n.parent ?? -1),
      depth: nodes.map((n) => n.depth),
      x,
      width: nodes.map((n) => cost(n.inclusive) / root),
      inclusive: nodes.map((n) => n.inclusive),
      self: nodes.map((n) => n.self),
      calls: nodes.map((n) => ({ calls: n.calls })),
      is_guessed: nodes.map((n) => n.guessed),
      merged: nodes.map(() => 1),
    };
  },
  source: (q) => {
    const answer = show(q.function, 1, 1000);
    const lines = answer.lines.rows.filter((line) => line.line !== null).sort((a, b) => a.line - b.line);
    return {
      head,
      function: byId.get(q.function),
      files: [{ path: lines[0]?.file ?? "", found_at: null, remark: null, self: answer.self }],
      shown: lines.length ? 0 : null,
      without_line: {},
      lines: lines.map((line) => ({
        ...line,
        text: line.text ? [{ kind: "", text: line.text }] : [],
        calls: line.calls.map((call) => ({ ...call, function: call.id, is_inner: call.inner })),
        jumps: [],
      })),
    };
  },
  // The direct neighbours only, in three rows: enough to look at the drawing.
  graph: (q) => {
    const answer = show(q.around ?? all.functions[0].id, 1, 6),
      center = { ...byId.get(answer.function.id), level: 1 },
      nodes = [center],
      arcs = [];
    for (const [level, list] of [
      [0, answer.callers.rows],
      [2, answer.callees.rows],
    ])
      for (const row of list) {
        if (row.id === center.id) continue;
        nodes.push({ ...byId.get(row.id), level });
        arcs.push({
          caller: level === 0 ? nodes.length - 1 : 0,
          callee: level === 0 ? 0 : nodes.length - 1,
          calls: row.calls,
          cost: row.cost,
          is_inner: row.inner,
        });
      }
    const seen = [0, 0, 0];
    const placed = nodes.map((node) => ({
      ...node,
      is_center: node === center,
      cost: node.inclusive,
      x: 20 + 190 * seen[node.level]++,
      y: 20 + 110 * node.level,
      width: 170,
      height: 36,
      hidden_callers: 0,
      hidden_callers_cost: {},
      hidden_callees: 0,
      hidden_callees_cost: {},
    }));
    return {
      head,
      width: 1000,
      height: 300,
      nodes: placed,
      all_nodes: rows.length,
      clusters: [],
      arcs: arcs.map((arc) => {
        const a = placed[arc.caller],
          b = placed[arc.callee],
          from = [a.x + 85, a.y + 36],
          to = [b.x + 85, b.y];
        return {
          ...arc,
          points: [from, [from[0], from[1] + 30], [to[0], to[1] - 30], to],
          label: [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2],
        };
      }),
    };
  },
  // Slices, one direction by level.
  treemap: (q) => {
    const { nodes, functions, basis } = tree(q),
      tiles = [],
      used = [];
    nodes.forEach((node, i) => {
      const outer = node.parent === null ? [0, 0, q.width, q.height] : tiles[node.parent].bounds,
        whole = node.parent === null ? cost(node.inclusive) : cost(nodes[node.parent].inclusive),
        part = cost(node.inclusive) / (whole || 1),
        at = used[node.parent] ?? 0,
        [x, y, w, h] = outer;
      if (node.parent !== null) used[node.parent] = at + part;
      tiles[i] = {
        function: node.function,
        merged: 0,
        parent: node.parent,
        depth: node.depth,
        inclusive: node.inclusive,
        is_guessed: node.guessed,
        bounds:
          node.parent === null
            ? outer
            : node.depth % 2
              ? [x + 3 + (w - 6) * at, y + 16, (w - 6) * part, Math.max(0, h - 19)]
              : [x + 3, y + 16 + Math.max(0, h - 19) * at, w - 6, Math.max(0, h - 19) * part],
      };
    });
    return { head, basis, functions: functions.map((f) => ({ ...f, all: head.totals })), tiles };
  },
  parts: () => ({
    head,
    parts: [
      {
        file: profile,
        process: null,
        thread: null,
        part: 1,
        trigger: null,
        time_range: null,
        self: head.totals,
        is_selected: true,
      },
    ],
    all: 1,
  }),
  findings: () => ({ verdict: "No findings.", all: 0, rows: [] }),
};
const policy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const types = {
  "index.html": "text/html; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "style.css": "text/css; charset=utf-8",
};
createServer((request, response) => {
  const file = request.url === "/" ? "index.html" : request.url.slice(1);
  if (request.method === "GET" && types[file]) {
    response.writeHead(200, { "content-type": types[file], "content-security-policy": policy });
    response.end(readFileSync(join(import.meta.dirname, "../dist", file)));
    return;
  }
  let body = "";
  request
    .on("data", (chunk) => {
      body += chunk;
    })
    .on("end", () => {
      const reply = (status, value) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(value));
      };
      if (request.url === "/api/session") return reply(200, {});
      try {
        const { question } = JSON.parse(body);
        const answer = answers[question.kind];
        if (answer) reply(200, answer(question));
        else reply(400, { error: `the mock server has no answer to ${question.kind}` });
      } catch (error) {
        reply(400, { error: String(error.message).slice(0, 300) });
      }
    });
}).listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
