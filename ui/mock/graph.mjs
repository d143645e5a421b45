// A layered drawing of a call graph, by distance from the function in the middle.

const WIDTH = 170;
const HEIGHT = 40;

export function graphOf({ question, report, head, show }) {
  const event = report.event_types[0];
  const byId = new Map(report.functions.map((row) => [row.id, row]));
  const rows = [...report.functions].sort((a, b) => Number(b.inclusive[event]) - Number(a.inclusive[event]));
  const center = question.around ?? rows[0].id;
  const levels = new Map([[center, 0]]);
  const arcs = new Map();
  const least = (Number(byId.get(center).inclusive[event]) * question.min_share) / 1000;

  const walk = (limit, direction) => {
    let front = [center];
    for (let level = 1; level <= limit && front.length > 0 && levels.size < question.nodes; level++) {
      const next = [];
      for (const id of front) {
        for (const row of show(id)[direction > 0 ? "callees" : "callers"].rows) {
          if (Number(row.cost[event]) < least || row.id === id) continue;
          if (!levels.has(row.id)) {
            if (levels.size >= question.nodes) continue;
            levels.set(row.id, level * direction);
            next.push(row.id);
          }
          const [caller, callee] = direction > 0 ? [id, row.id] : [row.id, id];
          arcs.set(`${caller} ${callee}`, {
            caller,
            callee,
            calls: row.calls,
            cost: row.cost,
            is_inner: row.inner,
          });
        }
      }
      front = next;
    }
  };
  walk(question.callers, -1);
  walk(question.callees, 1);

  const top = Math.min(...levels.values());
  const counts = new Map();
  const index = new Map([...levels.keys()].map((id, position) => [id, position]));
  const nodes = [...levels].map(([id, level]) => {
    const column = counts.get(level) ?? 0;
    counts.set(level, column + 1);
    const direct = show(id);
    return {
      ...byId.get(id),
      is_center: id === center,
      cost: byId.get(id).inclusive,
      x: 20 + (WIDTH + 40) * column,
      y: 30 + (HEIGHT + 70) * (level - top),
      width: WIDTH,
      height: HEIGHT,
      ...hidden("callers", direct.callers.rows),
      ...hidden("callees", direct.callees.rows),
    };
    function hidden(side, list) {
      const out = list.filter((row) => !levels.has(row.id));
      const cost = out.reduce((sum, row) => sum + Number(row.cost[event] ?? 0), 0);
      return { [`hidden_${side}`]: out.length, [`hidden_${side}_cost`]: { [event]: cost } };
    }
  });
  const placed = [...arcs.values()].map((arc) => {
    const [a, b] = [nodes[index.get(arc.caller)], nodes[index.get(arc.callee)]];
    const from = [a.x + WIDTH / 2, a.y + HEIGHT];
    const to = [b.x + WIDTH / 2, b.y];
    const points = [from, [from[0], from[1] + 30], [to[0], to[1] - 30], to];
    const label = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
    return { ...arc, caller: index.get(arc.caller), callee: index.get(arc.callee), points, label };
  });
  return {
    head,
    width: Math.max(...nodes.map((node) => node.x)) + WIDTH + 20,
    height: Math.max(...nodes.map((node) => node.y)) + HEIGHT + 40,
    nodes,
    arcs: placed,
    clusters: question.cluster === "function" ? [] : clustersOf(nodes, question.cluster),
    all_nodes: report.functions.length,
  };
}

function clustersOf(nodes, key) {
  const groups = new Map();
  for (const node of nodes) groups.set(node[key] ?? "", [...(groups.get(node[key] ?? "") ?? []), node]);
  return [...groups].map(([name, members]) => {
    const x = Math.min(...members.map((node) => node.x)) - 8;
    const y = Math.min(...members.map((node) => node.y)) - 20;
    const right = Math.max(...members.map((node) => node.x + node.width)) + 8;
    const bottom = Math.max(...members.map((node) => node.y + node.height)) + 8;
    return { name, bounds: [x, y, right - x, bottom - y] };
  });
}
