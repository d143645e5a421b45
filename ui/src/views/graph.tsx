import { Heads, Region } from "../parts/rows";
import { TableSwitch } from "../parts/tools";
import { useEffect, useMemo, useState } from "preact/hooks";
import { cutCalls } from "../actions";
import type { Graph, GraphArc, GraphNode, Group } from "../answers";
import { callCount, fitted, grouped, percentOf, share, short, visible } from "../format";
import { go, place, type Place } from "../place";
import { announce, eventName, hover, isComparing, list, select, selected, summary, whole } from "../state";
import { Empty, Status, useAnswer } from "../parts/answer";
import { Cost, Name } from "../parts/cost";
import { openMenu } from "../parts/menu";
import { Export } from "../parts/save";
import { graphDot, graphDrawing } from "./graph-export";
import { Sheet, useSight, type Rectangle } from "./graph-sight";
import { ChangedGraphView } from "./changed-graph";

const CHARACTER_PIXELS = 6.6;
const SMALL_CHARACTER_PIXELS = 5.8;
const CLUSTERS: [Group, string][] = [
  ["function", "none"],
  ["object", "object"],
  ["file", "file"],
  ["directory", "directory"],
  ["class", "class"],
  ["crate", "crate"],
  ["package", "package"],
];

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

function sayNode(node: GraphNode): string {
  const name = eventName.value;
  const parts = [
    `${visible(node.name)}: ${node.cost_is_estimate ? "~" : ""}${grouped(node.cost[name])} ${name}, ${percentOf(node.cost[name], whole.value)} of all`,
    `self ${grouped(node.self[name])}`,
    node.hidden_callers > 0 ? `${grouped(node.hidden_callers)} more callers` : "",
    node.hidden_callees > 0 ? `${grouped(node.hidden_callees)} more callees` : "",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** `true` for calls inside of a cycle and of a function to itself: their costs contain each other. */
function overlaps(arc: GraphArc): boolean {
  return arc.is_inner || arc.caller === arc.callee;
}

/** `false` if the cost of an arc contains itself, or states more than the total. */
function hasShare(arc: GraphArc): boolean {
  return !overlaps(arc) && share(arc.cost[eventName.value], whole.value) <= 1;
}

/** A cost as a share. Calls of a sampled recursion state more than the total: that is no share of it. */
function costText(cost: number | string | undefined): string {
  return share(cost, whole.value) > 1 ? short(cost) : percentOf(cost, whole.value);
}

/** The share of an arc's cost and its count of calls. */
export function arcLabel(arc: GraphArc): string {
  const count = `${callCount(arc)}×`;
  if (overlaps(arc)) return count;
  return `${arc.cost_is_estimate ? "~" : ""}${costText(arc.cost[eventName.value])} · ${count}`;
}

function sayArc(graph: Graph, arc: GraphArc): string {
  const name = eventName.value;
  const [caller, callee] = [graph.nodes[arc.caller]!, graph.nodes[arc.callee]!];
  return (
    `${visible(caller.name)} → ${visible(callee.name)}: ${arc.cost_is_estimate ? "~" : ""}${grouped(arc.cost[name])} ${name} ` +
    `${hasShare(arc) ? `(${percentOf(arc.cost[name], whole.value)})` : ""}, ${callCount(arc)} calls` +
    (!hasShare(arc) ? "; levels of the recursion overlap, so their sum has no share" : "")
  );
}

function NumberChoice({
  label,
  field,
  values,
}: {
  label: string;
  field: keyof Place;
  values: [string, string][];
}) {
  return (
    <label>
      {label}{" "}
      <select
        value={String(place.value[field])}
        onChange={(e) => go({ [field]: e.currentTarget.value } as Partial<Place>)}
      >
        {values.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

const DEPTHS: [string, string][] = [
  ["0", "none"],
  ["1", "1"],
  ["2", "2"],
  ["4", "4"],
  ["6", "6"],
  ["12", "12"],
  ["100", "all"],
];
const SHARES: [string, string][] = [
  ["0", "all"],
  ["1", "0.1%"],
  ["5", "0.5%"],
  ["10", "1%"],
  ["20", "2%"],
  ["50", "5%"],
  ["100", "10%"],
];

function wholeNumber(text: string, fallback: number): number {
  const value = Number(text);
  return Number.isInteger(value) && value >= 0 ? value : fallback;
}

/** The limits of the call graph, as questions have them. */
export function limitsOf({ nodes, callerDepth, calleeDepth, minShare, cluster }: Place) {
  return {
    callers: wholeNumber(callerDepth, 2),
    callees: wholeNumber(calleeDepth, 6),
    nodes: Math.min(500, Math.max(1, wholeNumber(nodes, 40))),
    min_share: Math.min(1000, wholeNumber(minShare, 10)),
    cluster,
  };
}

export function GraphView() {
  return isComparing.value ? <ChangedGraphView /> : <PlainGraph />;
}

/** In place of a call graph, for a profile without calls. */
export function NoCalls() {
  return (
    <Empty title="No calls in this profile">
      Cachegrind does not record calls: record with <code>valgrind --tool=callgrind</code>, and the call graph
      shows here.
    </Empty>
  );
}

/** The choice of what a call graph has. */
export function GraphTools({ shown, all }: { shown: number | undefined; all: number | undefined }) {
  const { around, nodes } = place.value;
  return (
    <>
      <label>
        <input type="checkbox" checked={around} onChange={() => go({ around: !around })} /> around the
        selection
      </label>
      <NumberChoice label="Callers" field="callerDepth" values={DEPTHS} />
      <NumberChoice label="Callees" field="calleeDepth" values={DEPTHS} />
      <NumberChoice label="At least" field="minShare" values={SHARES} />
      <NumberChoice label="Boxes around" field="cluster" values={CLUSTERS} />
      <label>
        Functions{" "}
        <input
          type="range"
          min={10}
          max={200}
          step={10}
          value={nodes}
          onChange={(e) => go({ nodes: e.currentTarget.value }, true)}
        />
      </label>
      {shown !== undefined ? (
        <span class="dim">
          {grouped(shown)} of {grouped(all)}
        </span>
      ) : null}
    </>
  );
}

function PlainGraph() {
  const { around, asTable } = place.value;
  const id = selected.value;
  const { answer, error } = useAnswer(
    id === undefined ? null : { kind: "graph", around: around ? id : null, ...limitsOf(place.value) },
  );
  const [arc, setArc] = useState(-1);
  useEffect(() => {
    setArc(-1);
    if (answer) list.value = answer.nodes;
  }, [answer]);
  if (summary.value?.has.calls === false) return <NoCalls />;
  return (
    <>
      <div class="tools">
        <GraphTools shown={answer?.nodes.length} all={answer?.all_nodes} />
        <TableSwitch />
        {answer ? (
          <Export
            name="call-graph"
            json={answer}
            rows={() => cells(answer)}
            draw={() => graphDrawing(answer)}
            dot={() => graphDot(answer)}
          />
        ) : null}
      </div>
      <Status answer={answer} error={error}>
        {answer && answer.nodes.length === 0 ? (
          <Empty title="No calls to draw">Lower the least share, or draw the whole program.</Empty>
        ) : null}
        {answer && answer.nodes.length > 0 ? (
          <>
            <p class="note">
              {around && id !== null
                ? `Boxes have the cost of ${visible(place.value.name)} while it runs, or what of it comes through them; ~ marks estimates. Arcs have the cost of all their calls.`
                : "Costs are inclusive."}
            </p>
            {asTable ? <ArcTable graph={answer} /> : <Canvas graph={answer} arc={arc} onArc={setArc} />}
            <ArcPanel graph={answer} arc={arc} onClose={() => setArc(-1)} />
          </>
        ) : null}
      </Status>
    </>
  );
}

function cells(graph: Graph) {
  const name = eventName.value;
  return [
    ["caller", "callee", `cost ${name}`, "calls"],
    ...graph.arcs.map((arc) => [
      graph.nodes[arc.caller]!.name,
      graph.nodes[arc.callee]!.name,
      arc.cost[name],
      arc.calls,
    ]),
  ];
}

function ArcTable({ graph }: { graph: Graph }) {
  const name = eventName.value;
  const arcs = [...graph.arcs].sort((a, b) => Number(b.cost[name] ?? 0) - Number(a.cost[name] ?? 0));
  return (
    <Region label="Calls of the graph">
      <table>
        <Heads numbers={["Cost", "Calls"]} texts={["Caller", "Callee"]} />
        <tbody>
          {arcs.map((arc) => (
            <tr key={`${arc.caller} ${arc.callee}`}>
              <td class="num">
                <Cost costs={arc.cost} inner={!hasShare(arc)} />
              </td>
              <td class="num">{callCount(arc)}</td>
              <td class="half">
                <Name row={graph.nodes[arc.caller]!} bare />
              </td>
              <td class="half">
                <Name row={graph.nodes[arc.callee]!} bare />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Region>
  );
}

/** The chosen calls, with what can be done to them. */
function ArcPanel({ graph, arc, onClose }: { graph: Graph; arc: number; onClose: () => void }) {
  const chosen = graph.arcs[arc];
  if (!chosen) return null;
  const [caller, callee] = [graph.nodes[chosen.caller]!, graph.nodes[chosen.callee]!];
  return (
    <p class="arc-panel" role="status">
      <span>{sayArc(graph, chosen)}</span>
      <button
        title="Take these calls out of the graph; all numbers follow"
        onClick={() => cutCalls(caller.name, callee.name)}
      >
        Cut these calls
      </button>
      <button onClick={() => select(caller)}>Caller</button>
      <button onClick={() => select(callee)}>Callee</button>
      <button aria-label="Close" onClick={onClose}>
        ×
      </button>
    </p>
  );
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

export const GRAPH_HINT =
  "Drag and wheel move, Ctrl and wheel zoom; arrow keys walk along the most expensive calls. A click on an arc chooses it.";

function Canvas({ graph, arc, onArc }: { graph: Graph; arc: number; onArc: (arc: number) => void }) {
  const sight = useSight(graph);
  const onKeyDown = (e: KeyboardEvent, from: number) => {
    if (e.key === "Enter" || e.key === " ") select(graph.nodes[from]!);
    else if (e.key.startsWith("Arrow") && !e.altKey) {
      const cost = (one: GraphArc) => Number(one.cost[eventName.value] ?? 0);
      const next = walk(graph.nodes, graph.arcs, cost, from, e.key);
      if (!next) return;
      if (next.arc >= 0) onArc(next.arc);
      const node = graph.nodes[next.node]!;
      announce.value = next.arc >= 0 ? sayArc(graph, graph.arcs[next.arc]!) : sayNode(node);
      sight.centre(node);
      document.getElementById(`node-${next.node}`)?.focus();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <Sheet graph={graph} of={sight} label="Call graph" hint={GRAPH_HINT}>
      {graph.clusters.map((cluster) => (
        <Cluster key={cluster.name} name={cluster.name} bounds={cluster.bounds} />
      ))}
      {graph.arcs.map((one, index) => (
        <Arc key={index} graph={graph} arc={one} isChosen={index === arc} onChoose={() => onArc(index)} />
      ))}
      {graph.nodes.map((node, index) => (
        <Node key={node.id ?? node.name} node={node} index={index} onKeyDown={(e) => onKeyDown(e, index)} />
      ))}
    </Sheet>
  );
}

export function Cluster({
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

function Arc({
  graph,
  arc,
  isChosen,
  onChoose,
}: {
  graph: Graph;
  arc: GraphArc;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const name = eventName.value;
  const path = useMemo(() => pathOf(arc.points), [arc]);
  const width = widthOf(arc.cost[name], whole.value);
  const say = sayArc(graph, arc);
  return (
    <g
      class={`arc${isChosen ? " chosen" : ""}${arc.is_inner ? " inner" : ""}`}
      onMouseEnter={() => {
        hover.value = say;
      }}
      onClick={onChoose}
    >
      <path class="reach" d={path} />
      <path d={path} stroke-width={width} />
      <path class="head" d={arrowOf(arc.points)} />
      <text x={arc.label[0]} y={arc.label[1]} text-anchor="middle" dominant-baseline="middle">
        {arcLabel(arc)}
      </text>
    </g>
  );
}

function Stub({
  count,
  cost,
  what,
  x,
  y,
}: {
  count: number;
  cost: number | string | undefined;
  what: string;
  x: number;
  y: number;
}) {
  if (count === 0) return null;
  return (
    <text class="stub" x={x} y={y} text-anchor="middle">
      +{grouped(count)} {count === 1 ? what : `${what}s`}, {costText(cost)}
    </text>
  );
}

function Node({
  node,
  index,
  onKeyDown,
}: {
  node: GraphNode;
  index: number;
  onKeyDown: (e: KeyboardEvent) => void;
}) {
  const name = eventName.value;
  const say = sayNode(node);
  const { x, y, width, height } = node;
  const inclusive = Math.min(1, Math.max(0, share(node.cost[name], whole.value)));
  const self = Math.min(inclusive, Math.max(0, share(node.self[name], whole.value)));
  const isSelected = node.id !== null && node.id === selected.value;
  const cost = `${node.cost_is_estimate ? "~" : ""}${percentOf(node.cost[name], whole.value)}`;
  const classes = [
    "node",
    node.is_center ? "centre" : "",
    isSelected ? "selected" : "",
    node.cost_is_estimate ? "guessed" : "",
  ];
  return (
    <g
      id={`node-${index}`}
      tabindex={0}
      role="button"
      aria-label={say}
      class={classes.join(" ")}
      onMouseEnter={() => {
        hover.value = say;
      }}
      onClick={() => select(node)}
      onContextMenu={(e) => openMenu(e, node)}
      onKeyDown={onKeyDown}
    >
      <rect x={x} y={y} width={width} height={height} rx="4" />
      <rect class="inclusive" x={x + 4} y={y + height - 7} width={(width - 8) * inclusive} height="4" />
      <rect class="self" x={x + 4} y={y + height - 7} width={(width - 8) * self} height="4" />
      <text x={x + 6} y={y + 14}>
        {fitted(node.name, (width - 12) / CHARACTER_PIXELS)}
      </text>
      <text class="small" x={x + 6} y={y + Math.min(height - 9, 27)}>
        {fitting([`${cost} · self ${percentOf(node.self[name], whole.value)}`, cost], width - 10)}
      </text>
      <Stub
        count={node.hidden_callers}
        cost={node.hidden_callers_cost[name]}
        what="caller"
        x={x + width / 2}
        y={y - 5}
      />
      <Stub
        count={node.hidden_callees}
        cost={node.hidden_callees_cost[name]}
        what="callee"
        x={x + width / 2}
        y={y + height + 12}
      />
    </g>
  );
}

/** The longest of the texts that fits a width. */
export function fitting(texts: string[], width: number): string {
  return texts.find((text) => text.length * SMALL_CHARACTER_PIXELS <= width) ?? texts.at(-1)!;
}
