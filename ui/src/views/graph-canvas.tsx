// The drawing of a call graph, of a profile or of a comparison: boxes and arcs with their keys, and the chosen calls.
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { GraphCluster } from "../answers";
import { fitted } from "../names";
import { announce, hover, select, type Row } from "../state";
import { openMenu } from "../parts/menu";
import { arrowOf, CHARACTER_PIXELS, pathOf, walk } from "./graph-geometry";
import { Sheet, useSight, type Laid, type Rectangle } from "./graph-sight";

const GRAPH_HINT =
  "Drag and wheel move, Ctrl and wheel zoom; arrow keys follow the most expensive calls. Click an arc to choose it.";

interface Ends {
  caller: number;
  callee: number;
}

/** A call graph with its layout. */
export interface LaidGraph<Node, Arc> extends Laid {
  nodes: (Node & Rectangle & { is_center: boolean })[];
  arcs: (Arc & Ends)[];
  clusters: GraphCluster[];
}

/** The drawing. `sizeOf` says which calls the arrow keys follow. */
export function GraphCanvas<Node, Arc>({
  graph,
  label,
  rowOf,
  sizeOf,
  sayNode,
  sayArc,
  drawNode,
  drawArc,
  onArc,
}: {
  graph: LaidGraph<Node, Arc>;
  label: string;
  rowOf: (node: Node) => Row;
  sizeOf: (arc: Arc) => number;
  sayNode: (node: Node) => string;
  sayArc: (arc: Arc & Ends) => string;
  drawNode: (node: Node, index: number, onKeyDown: (e: KeyboardEvent) => void) => JSX.Element;
  drawArc: (arc: Arc & Ends, index: number) => JSX.Element;
  onArc: (arc: number) => void;
}) {
  const sight = useSight(graph);
  const onKeyDown = (e: KeyboardEvent, from: number) => {
    if (e.key === "Enter" || e.key === " ") select(rowOf(graph.nodes[from]!));
    else if (e.key.startsWith("Arrow") && !e.altKey) {
      const next = walk(graph.nodes, graph.arcs, sizeOf, from, e.key);
      if (!next) return;
      if (next.arc >= 0) onArc(next.arc);
      const node = graph.nodes[next.node]!;
      announce.value = next.arc >= 0 ? sayArc(graph.arcs[next.arc]!) : sayNode(node);
      sight.centre(node);
      document.getElementById(`node-${next.node}`)?.focus();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <Sheet graph={graph} of={sight} label={label} hint={GRAPH_HINT}>
      {graph.clusters.map(({ name, bounds }) => (
        <Cluster key={name} name={name} bounds={bounds} />
      ))}
      {graph.arcs.map(drawArc)}
      {graph.nodes.map((node, index) => drawNode(node, index, (e) => onKeyDown(e, index)))}
    </Sheet>
  );
}

function Cluster({
  name,
  bounds: [x, y, width, height],
}: {
  name: string;
  bounds: [number, number, number, number];
}) {
  return (
    <g class="cluster">
      <rect x={x} y={y} width={width} height={height} rx="6" />
      <text x={x + 6} y={y + 13}>
        {fitted(name, width / CHARACTER_PIXELS)}
      </text>
    </g>
  );
}

/** The line of an arc, with its labels. */
export function ArcLine({
  points,
  width,
  say,
  classes,
  onChoose,
  children,
}: {
  points: [number, number][];
  width: number;
  say: string;
  classes: string[];
  onChoose: () => void;
  children: ComponentChildren;
}) {
  const path = useMemo(() => pathOf(points), [points]);
  return (
    <g
      class={["arc", ...classes].filter((one) => one !== "").join(" ")}
      onMouseEnter={() => {
        hover.value = say;
      }}
      onClick={onChoose}
    >
      <path class="reach" d={path} />
      <path d={path} stroke-width={width} />
      <path class="head" d={arrowOf(points)} />
      {children}
    </g>
  );
}

/** The box of a function, which can be chosen and walked to. */
export function NodeBox({
  node: { x, y, width, height },
  index,
  row,
  say,
  classes,
  onKeyDown,
  children,
}: {
  node: Rectangle;
  index: number;
  row: Row;
  say: string;
  classes: string[];
  onKeyDown: (e: KeyboardEvent) => void;
  children: ComponentChildren;
}) {
  return (
    <g
      id={`node-${index}`}
      tabindex={0}
      role="button"
      aria-label={say}
      class={["node", ...classes].filter((one) => one !== "").join(" ")}
      onMouseEnter={() => {
        hover.value = say;
      }}
      onClick={() => select(row)}
      onContextMenu={(e) => openMenu(e, row)}
      onKeyDown={onKeyDown}
    >
      <rect x={x} y={y} width={width} height={height} rx="4" />
      {children}
    </g>
  );
}

/** The chosen calls, with what can be done to them. */
export function ArcPanel({
  say,
  caller,
  callee,
  onClose,
  children,
}: {
  say: string;
  caller: Row;
  callee: Row;
  onClose: () => void;
  children?: ComponentChildren;
}) {
  return (
    <p class="arc-panel" role="status">
      <span>{say}</span>
      {children}
      <button onClick={() => select(caller)}>Caller</button>
      <button onClick={() => select(callee)}>Callee</button>
      <button aria-label="Close" onClick={onClose}>
        ×
      </button>
    </p>
  );
}
