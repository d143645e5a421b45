// Answers to the page's questions, made of the program's JSON reports. The pictures are simple: enough to look at the drawing.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { graphOf } from "./graph.mjs";

const HEAD = [
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
];
const NARROW_SHARE = 0.00025;

export function answersOf({ program, files, base, sources }) {
  const kept = new Map();
  const sourceOptions = sources ? ["--source-map", sources] : [];

  function run(...words) {
    const key = JSON.stringify(words);
    if (!kept.has(key)) {
      const options = { maxBuffer: 1 << 30, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] };
      kept.set(key, JSON.parse(execFileSync(program, [...words, "--format", "json"], options)));
      if (kept.size > 200) kept.delete(kept.keys().next().value);
    }
    return kept.get(key);
  }

  function scopeOptions(scope, withNarrowing = true) {
    const options = [];
    if (scope.events.length > 0) options.push("--event", scope.events.join(","));
    for (const formula of scope.derive) options.push("--derive", formula);
    if (scope.parts) options.push("--part", scope.parts);
    if (scope.threads) options.push("--thread", scope.threads);
    if (scope.processes) options.push("--pid", scope.processes);
    for (const cut of scope.cuts) options.push("--cut", cut);
    if (scope.no_cycles) options.push("--no-cycles");
    if (scope.fold_recursion) options.push("--fold-recursion");
    if (scope.fold_callers) options.push("--fold-callers");
    if (withNarrowing && scope.hide) options.push("--hide", scope.hide);
    if (withNarrowing && scope.focus) options.push("--focus", scope.focus);
    return options;
  }

  const all = (scope) =>
    run(
      "functions",
      "--limit",
      "0",
      "--sort",
      "self",
      "--no-fold-start-up",
      ...scopeOptions(scope),
      ...files,
    );
  const headOf = (report) => Object.fromEntries(HEAD.map((key) => [key, report[key]]));
  const rowOf = (id, scope) => {
    const row = all(scope).functions.find((one) => one.id === id);
    if (!row) throw new Error(`no function has the id ${id}`);
    return row;
  };
  const selector = (row) => (row.file && row.file !== "???" ? `${row.file}:${row.name}` : row.name);
  const firstEvent = (report) => report.event_types[0];
  const sumOf = (rows, report) =>
    Object.fromEntries(
      report.event_types.map((event) => [
        event,
        rows.reduce((sum, row) => sum + Number(row.self[event] ?? 0), 0),
      ]),
    );

  function show(id, depth, limit, scope, ...more) {
    const row = rowOf(id, scope);
    const words = ["--depth", String(depth), "--limit", String(limit), ...sourceOptions, ...more];
    for (const name of [selector(row), row.name]) {
      const answer = run("show", name, ...words, ...scopeOptions(scope), ...files);
      if (answer.function.id === id) return answer;
    }
    return run("show", row.name, ...words, ...scopeOptions(scope), ...files);
  }

  function tree(question, scope) {
    const from = question.from == null ? [] : ["--from", selector(rowOf(question.from, scope))];
    const inverted = question.inverted ? ["--inverted"] : [];
    const min = String((question.min_share ?? 1) / 10);
    return run(
      "tree",
      "--limit",
      "0",
      "--no-chains",
      "--min",
      min,
      ...inverted,
      ...from,
      ...scopeOptions(scope),
      ...files,
    );
  }

  function summary(scope) {
    const report = all(scope);
    const info = run("info", ...files);
    const types = [...report.events.map((one) => ({ ...one, total: report.totals[one.name] }))];
    for (const name of report.other_event_types) {
      const other = run(
        "functions",
        "--limit",
        "1",
        "--event",
        name,
        ...scope.derive.flatMap((one) => ["--derive", one]),
        ...files,
      );
      types.push({ ...other.events[0], total: other.totals[name] });
    }
    const order = info.files[0].parts[0]?.event_types.map((one) => one.name) ?? [];
    types.sort((a, b) => (order.indexOf(a.name) + 1 || 99) - (order.indexOf(b.name) + 1 || 99));
    const positions = info.files.flatMap((file) => file.parts.flatMap((part) => part.positions));
    const arcs = info.files.reduce((sum, file) => sum + file.counts.arcs, 0);
    return {
      head: headOf(report),
      files: files.map((name) => ({ name, bytes: statSync(name).size })),
      event_types: types,
      functions: report.functions.length,
      calls: arcs,
      cycles: 0,
      base: base && { files: [base], title: "", totals: baseTotals(types), doubts: [] },
      damage: report.damage,
      findings: report.findings,
      is_watched: process.env.WATCHED === "1",
      has: {
        calls: arcs > 0,
        call_counts: arcs > 0,
        lines: positions.includes("line"),
        addresses: positions.includes("instr"),
        jumps: info.files.some((file) => file.counts.jumps > 0),
        several_parts: report.parts > 1,
        sources: sources !== "",
        programs: false,
      },
    };
  }

  function baseTotals(types) {
    return types.map((type) => {
      try {
        return run("functions", "--limit", "1", "--event", type.name, base).totals[type.name];
      } catch {
        return 0;
      }
    });
  }

  function functions(question, scope) {
    const { group, sort, filter, within } = question;
    const words =
      group === "function" || group === "cycle" ? [] : ["--group", group === "directory" ? "dir" : group];
    if (filter) words.push("--filter", filter);
    if (within) words.push(`--${within.group}`, `^${within.name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`);
    const report = run(
      "functions",
      "--limit",
      "0",
      "--no-fold-start-up",
      ...words,
      ...scopeOptions(scope),
      ...files,
    );
    const event = firstEvent(report);
    const perCall = (row) => (Number(row.calls) > 0 ? Number(row.inclusive[event]) / Number(row.calls) : -1);
    const keys = {
      self_cost: (row) => -Number(row.self[event]),
      inclusive: (row) => -Number(row.inclusive[event]),
      calls: (row) => -Number(row.calls ?? -1),
      per_call: (row) => -perCall(row),
      name: (row) => row.name,
      object: (row) => row.object,
      file: (row) => row.file,
    };
    const key = keys[sort];
    const rows = [...report.functions].map((row) => ({ file: "", object: "", id: null, ...row }));
    rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
    if (question.ascending && sort !== "name") rows.reverse();
    return {
      head: headOf(report),
      all: rows.length,
      matched: sumOf(rows, report),
      start: question.start,
      rows: rows.slice(question.start, question.start + question.count),
    };
  }

  function search(question, scope) {
    const report = all(scope);
    const wanted = question.text.toLowerCase();
    const has = (text) => text.toLowerCase().includes(wanted);
    const found = report.functions.filter((row) => has(row.name));
    const names = (key) =>
      [...new Set(report.functions.map((row) => row[key]))].filter(has).slice(0, question.limit);
    return {
      all: found.length,
      matched: sumOf(found, report),
      functions: found.slice(0, question.limit),
      files: names("file"),
      objects: names("object"),
    };
  }

  function flame(question, scope) {
    const report = tree({ ...question, min_share: 0 }, scope);
    const event = firstEvent(report);
    const byId = new Map(all(scope).functions.map((row) => [row.id, row]));
    let { nodes } = report;
    if (question.zoom.length > 0) nodes = subtree(report, question.zoom);
    const root = Number(nodes[0].inclusive[event]) || 1;
    const x = [];
    const next = [];
    const kept = [];
    const order = nodes.map((_, index) => index);
    const children = new Map();
    for (const index of order) {
      const { parent } = nodes[index];
      children.set(parent, [...(children.get(parent) ?? []), index]);
    }
    const nameOf = (index) => report.functions[nodes[index].function].name;
    const visit = (index) => {
      kept.push(index);
      const below = [...(children.get(index) ?? [])];
      if (question.order === "name") below.sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
      for (const child of below) {
        x[child] = next[index];
        next[index] += Number(nodes[child].inclusive[event]) / root;
        next[child] = x[child];
        if (Number(nodes[child].inclusive[event]) / root >= NARROW_SHARE) visit(child);
      }
    };
    x[0] = 0;
    next[0] = 0;
    visit(0);
    const at = new Map(kept.map((index, position) => [index, position]));
    const list = kept.map((index) => nodes[index]);
    return {
      head: headOf(report),
      basis: report.basis,
      guessed: report.guessed,
      functions: report.functions.map((one) => ({
        id: one.id,
        name: one.name,
        file: one.file,
        object: one.object,
        all: byId.get(one.id)?.inclusive ?? report.totals,
      })),
      function: list.map((node) => node.function),
      parent: list.map((node) => at.get(node.parent) ?? -1),
      depth: list.map((node) => node.depth - nodes[0].depth),
      x: kept.map((index) => x[index]),
      width: list.map((node) => Number(node.inclusive[event]) / root),
      inclusive: list.map((node) => node.inclusive),
      self: list.map((node) => node.self),
      calls: list.map((node) => ({ calls: node.calls })),
      is_guessed: list.map((node) => node.guessed),
      merged: list.map(() => 1),
    };
  }

  /** The nodes below a path of ids, with new indexes. */
  function subtree(report, path) {
    let at = -1;
    for (const id of path) {
      const next = report.nodes.findIndex(
        (node, index) =>
          (at < 0 ? index > -1 : node.parent === at) && report.functions[node.function].id === id,
      );
      if (next < 0) throw new Error("the flame graph has no such frame");
      at = next;
    }
    const index = new Map([[at, 0]]);
    const nodes = [{ ...report.nodes[at], parent: null }];
    report.nodes.forEach((node, i) => {
      if (i === at || !index.has(node.parent)) return;
      index.set(i, nodes.length);
      nodes.push({ ...node, parent: index.get(node.parent) });
    });
    return nodes;
  }

  /** Slices, in one direction by level. */
  function treemap(question, scope) {
    const report = tree({ ...question, inverted: question.callers, min_share: 5 }, scope);
    const event = firstEvent(report);
    const costOf = (node) => Number(node.inclusive[event]);
    const tiles = [];
    const used = [];
    report.nodes.forEach((node, index) => {
      const parent = node.parent === null ? null : tiles[node.parent];
      const outer = parent?.bounds ?? [0, 0, question.width, question.height];
      const whole = node.parent === null ? costOf(node) : costOf(report.nodes[node.parent]);
      const part = costOf(node) / (whole || 1);
      const at = used[node.parent] ?? 0;
      if (node.parent !== null) used[node.parent] = at + part;
      const [x, y, w, h] = outer;
      const inner = [x + 3, y + 16, Math.max(0, w - 6), Math.max(0, h - 19)];
      const column = [inner[0] + inner[2] * at, inner[1], inner[2] * part, inner[3]];
      const row = [inner[0], inner[1] + inner[3] * at, inner[2], inner[3] * part];
      const bounds = node.parent === null ? outer : outer[2] > outer[3] ? column : row;
      tiles[index] = {
        function: node.function,
        merged: 0,
        parent: node.parent,
        depth: node.depth,
        inclusive: node.inclusive,
        is_guessed: node.guessed,
        bounds,
      };
    });
    return {
      head: headOf(report),
      basis: report.basis,
      functions: report.functions.map((one) => ({ ...one, all: report.totals })),
      tiles,
    };
  }

  function source(question, scope) {
    const report = all(scope);
    const functionId = question.function ?? report.functions.find((row) => row.file === question.file)?.id;
    const answer = show(functionId, 1, 1000, scope, "--lines", "0");
    const event = firstEvent(report);
    const byFile = new Map();
    for (const line of answer.lines) {
      const sum = byFile.get(line.file) ?? 0;
      byFile.set(line.file, sum + Number(line.self[event] ?? 0));
    }
    const paths = [...byFile.keys()].sort((a, b) => byFile.get(b) - byFile.get(a));
    const shown = Math.max(0, paths.indexOf(question.file));
    const path = paths[shown];
    const texts = textOf(path);
    const costly = new Map(
      answer.lines
        .filter((line) => line.file === path && line.line !== null)
        .map((line) => [line.line, line]),
    );
    const last = Math.max(texts.length, ...costly.keys());
    const lines = [];
    for (let number = 1; number <= last; number++) {
      const line = costly.get(number);
      if (!line && texts.length === 0) continue;
      const text = texts[number - 1] ?? line?.text ?? "";
      const calls = (line?.calls ?? []).map((call) => ({ ...call, function: call.id, is_inner: call.inner }));
      lines.push({
        line: number,
        text: text === "" ? [] : [{ kind: /^\s*(\/\/|\/\*|\*)/.test(text) ? "comment" : "", text }],
        self: line?.self ?? null,
        inclusive: line?.inclusive ?? null,
        calls,
        jumps: [],
      });
    }
    const found = (one) => (textOf(one).length > 0 ? one : null);
    return {
      head: headOf(report),
      function: question.function === null ? null : rowOf(functionId, scope),
      files: paths.map((one) => ({
        path: one,
        found_at: found(one),
        remark: null,
        self: { [event]: byFile.get(one) },
      })),
      shown: paths.length > 0 ? shown : null,
      without_line: {},
      lines,
    };
  }

  function textOf(path) {
    const [from, to] = sources.split("=");
    if (!path || !sources || !path.startsWith(from)) return [];
    try {
      return readFileSync(to + path.slice(from.length), "utf8").split("\n");
    } catch {
      return [];
    }
  }

  function parts(scope) {
    const report = all(scope);
    const event = firstEvent(report);
    const info = run("info", ...files);
    const within = (ranges, number) =>
      ranges === "" ||
      ranges.split(",").some((range) => {
        const [low, high = low] = range.split("-").map(Number);
        return number >= low && number <= high;
      });
    const rows = info.files.flatMap((file) =>
      file.parts.map((part) => ({
        file: file.path,
        process: part.pid,
        thread: part.thread,
        part: part.part,
        trigger: part.trigger,
        time_range: part.time_range,
        self: { [event]: part.totals[event] ?? 0 },
        is_selected:
          within(scope.parts, part.part) &&
          within(scope.threads, part.thread) &&
          within(scope.processes, part.pid),
      })),
    );
    return { head: headOf(report), parts: rows, all: rows.length };
  }

  function findings(limit) {
    const report = run("lint", ...files);
    const rows = report.files.flatMap((file) =>
      file.findings.map((one) => ({
        severity: one.severity,
        rule: one.rule,
        file: file.path,
        line: one.line,
        text: one.message,
      })),
    );
    const verdict = rows.length === 0 ? "The file follows the format." : `${rows.length} findings.`;
    return { verdict, all: rows.length, rows: rows.slice(0, limit) };
  }

  const diffOptions = (scope) => scopeOptions(scope, false);
  return {
    generation: () => Math.max(...files.map((name) => statSync(name).mtimeMs)),
    summary: (_, scope) => summary(scope),
    overview: (_, scope) => run("overview", ...scopeOptions(scope), ...files),
    functions,
    function: (question, scope) => show(question.function, question.depth, question.limit, scope),
    find: (question, scope) => {
      const same = (row) =>
        ["name", "file", "object"].every((key) => question[key] === "" || row[key] === question[key]);
      return { function: all(scope).functions.find(same)?.id ?? null };
    },
    search,
    tree,
    flame,
    treemap,
    graph: (question, scope) =>
      graphOf({
        question,
        report: all(scope),
        head: headOf(all(scope)),
        show: (id) => show(id, 1, 60, scope),
      }),
    source,
    assembly: (question, scope) => {
      const row = rowOf(question.function, scope);
      const pattern = `^${row.name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
      return run(
        "annotate",
        "--asm",
        "--filter",
        pattern,
        ...(scope.events.length > 0 ? ["--event", scope.events.join(",")] : []),
        ...files,
      );
    },
    parts: (_, scope) => parts(scope),
    findings: (question) => findings(question.limit),
    changes: (question, scope) => {
      const group =
        question.group === "function" || question.group === "cycle"
          ? []
          : ["--group", question.group === "directory" ? "dir" : question.group];
      const sort = { self_change: "self", inclusive_change: "inclusive", name: "name" }[question.sort];
      const filter = question.filter ? ["--filter", question.filter] : [];
      const words = ["--limit", String(question.limit), "--sort", sort, ...group, ...filter];
      return run("diff", ...words, ...diffOptions(scope), base, ...files);
    },
    changes_tree: (question, scope) =>
      run(
        "diff",
        "--tree",
        "--limit",
        String(question.limit),
        "--min",
        String(question.min_share / 10),
        ...diffOptions(scope),
        base,
        ...files,
      ),
    changed_function: (question, scope) =>
      run("diff", "--function", question.name, ...sourceOptions, ...diffOptions(scope), base, ...files),
  };
}
