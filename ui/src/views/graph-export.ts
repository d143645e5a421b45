// The call graph as a document, and as text for Graphviz.
import type { Graph } from "../answers";
import { visible } from "../format";
import { fitted } from "../names";
import { eventName, whole } from "../state";
import { palette } from "../parts/colours";
import { xml, type Drawing } from "../parts/save";
import { arcLabel, nodeLabel, nodeShare } from "./graph";
import { arrowOf, CHARACTER_PIXELS, graphDocument, pathOf, widthOf } from "./graph-geometry";

/** Graphviz cannot read labels above 16 KiB. */
const MAX_DOT_LABEL = 1000;

export function graphDrawing(graph: Graph): Drawing {
  const name = eventName.value;
  const colour = palette();
  const [text, line, panel] = ["--text", "--dim", "--panel"].map(colour) as [string, string, string];
  const arcs = graph.arcs.map((arc) => {
    const [x, y] = arc.label;
    return (
      `<path d="${pathOf(arc.points)}" fill="none" stroke="${line}" stroke-width="${widthOf(arc.cost[name], whole.value).toFixed(2)}"/>` +
      `<path d="${arrowOf(arc.points)}" fill="${line}"/>` +
      `<text x="${x}" y="${y + 3}" font-size="10" text-anchor="middle" fill="${text}">` +
      `${xml(arcLabel(arc))}</text>`
    );
  });
  const nodes = graph.nodes.map((node) => {
    const label = xml(fitted(node.name, (node.width - 12) / CHARACTER_PIXELS));
    return (
      `<g><title>${xml(visible(node.name))}</title>` +
      `<rect x="${node.x}" y="${node.y}" width="${node.width}" height="${node.height}" rx="4" fill="${panel}" stroke="${text}"/>` +
      `<text x="${node.x + 6}" y="${node.y + 14}" font-size="11" fill="${text}">${label}</text>` +
      `<text x="${node.x + 6}" y="${node.y + 27}" font-size="10" fill="${text}">` +
      `${xml(nodeLabel(node))}</text></g>`
    );
  });
  return graphDocument(graph, arcs, nodes);
}

function quoted(text: string): string {
  const short = text.length > MAX_DOT_LABEL ? `${text.slice(0, MAX_DOT_LABEL)}…` : text;
  return `"${visible(short).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Text for `dot`. Names are labels only: ids are numbers. */
export function graphDot(graph: Graph): string {
  const name = eventName.value;
  // The label ends with a line for the share.
  const nodes = graph.nodes.map(
    (node, index) => `  n${index} [label=${quoted(node.name).slice(0, -1)}\\n${nodeShare(node)}"];`,
  );
  const arcs = graph.arcs.map(
    (arc) =>
      `  n${arc.caller} -> n${arc.callee} [label="${arcLabel(arc)}", ` +
      `penwidth=${widthOf(arc.cost[name], whole.value).toFixed(2)}];`,
  );
  return `digraph calls {\n  node [shape=box, fontname="sans-serif"];\n${[...nodes, ...arcs].join("\n")}\n}\n`;
}
