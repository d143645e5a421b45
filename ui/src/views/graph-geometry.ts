// Lines, arrows and keyboard walks of call graphs, and their documents.
import type { GraphCluster } from "../answers";
import { share } from "../format";
import { fitted } from "../names";
import { palette } from "../parts/colours";
import { xml, type Drawing } from "../parts/save";
import type { Rectangle } from "./graph-sight";

export const CHARACTER_PIXELS = 6.6;

export function widthOf(cost: number | string | undefined, total: number | string): number {
  return 0.7 + 5 * Math.sqrt(Math.max(0, share(cost, total)));
}

export function pathOf(points: [number, number][]): string {
  return points
    .map(([x, y], index) => `${index === 0 ? "M" : index % 3 === 1 ? "C" : ""}${x} ${y}`)
    .join(" ");
}

/** The triangle at the end of an arc, from the direction of its last curve. */
export function arrowOf(points: [number, number][]): string {
  const [endX, endY] = points.at(-1)!;
  let [fromX, fromY] = points.at(-2) ?? [endX, endY - 1];
  if (fromX === endX && fromY === endY) [fromX, fromY] = points.at(-3) ?? [endX, endY - 1];
  const length = Math.hypot(endX - fromX, endY - fromY) || 1;
  const [dx, dy] = [(endX - fromX) / length, (endY - fromY) / length];
  const size = 9;
  const back: [number, number] = [endX - dx * size, endY - dy * size];
  const side = size / 2.4;
  return `M${endX} ${endY}L${back[0] - dy * side} ${back[1] + dx * side}L${back[0] + dy * side} ${back[1] - dx * side}Z`;
}

/** The node that an arrow leads to: along the largest call up or down, or beside. */
export function walk<Arc extends { caller: number; callee: number }>(
  nodes: Rectangle[],
  arcs: Arc[],
  sizeOf: (arc: Arc) => number,
  from: number,
  key: string,
): { node: number; arc: number } | null {
  const best = (end: "caller" | "callee", other: "caller" | "callee") => {
    let found: { node: number; arc: number; size: number } | null = null;
    arcs.forEach((arc, index) => {
      const size = sizeOf(arc);
      if (arc[end] !== from || arc[other] === from) return;
      if (!found || size > found.size) found = { node: arc[other], arc: index, size };
    });
    return found as { node: number; arc: number; size: number } | null;
  };
  if (key === "ArrowDown") return best("caller", "callee");
  if (key === "ArrowUp") return best("callee", "caller");
  const at = nodes[from]!;
  const sign = key === "ArrowRight" ? 1 : -1;
  const beside = nodes
    .map((node, index) => ({ node, index, by: (node.x - at.x) * sign }))
    .filter(({ node, by }) => by > 0 && Math.abs(node.y - at.y) < at.height * 2)
    .sort((a, b) => a.by - b.by)[0];
  return beside ? { node: beside.index, arc: -1 } : null;
}

/** A call graph as a document, with its arcs and boxes. */
export function graphDocument(
  { width, height, clusters }: { width: number; height: number; clusters: GraphCluster[] },
  arcs: string[],
  nodes: string[],
): Drawing {
  const [line, ground] = ["--dim", "--bg"].map(palette()) as [string, string];
  const boxes = clusters.map(
    ({ name, bounds: [x, y, boxWidth, boxHeight] }) =>
      `<rect x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="6" fill="none" stroke="${line}" stroke-dasharray="4 3"/>` +
      `<text x="${x + 6}" y="${y + 13}" font-size="10" fill="${line}">${xml(fitted(name, boxWidth / CHARACTER_PIXELS))}</text>`,
  );
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${ground}"/>` +
    `${boxes.join("")}${arcs.join("")}${nodes.join("")}</svg>`;
  return { svg, width, height };
}
