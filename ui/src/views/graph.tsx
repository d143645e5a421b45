import { Heads, Region } from "../parts/rows";
import { TableSwitch } from "../parts/tools";
import { useEffect, useState } from "preact/hooks";
import { cutCalls } from "../actions";
import type { Graph, GraphArc, GraphNode } from "../answers";
import { callCount, grouped, percentOf, share, short, visible } from "../format";
import { fitted } from "../names";
import { place } from "../place";
import { eventName, isComparing, list, selected, summary, whole } from "../state";
import { Empty, Status, useAnswer } from "../parts/answer";
import { boundReason, Cost, Name } from "../parts/cost";
import { Export } from "../parts/save";
import { graphDot, graphDrawing } from "./graph-export";
import { ChangedGraphView } from "./changed-graph";
import { ArcLine, ArcPanel, GraphCanvas, NodeBox } from "./graph-canvas";
import { CHARACTER_PIXELS, widthOf } from "./graph-geometry";
import { GraphTools, limitsOf, NoCalls } from "./graph-tools";

const SMALL_CHARACTER_PIXELS = 5.8;
/** `true` if the cost of a box is the inclusive cost of its function, and not a part of it: the self cost is in it then. */
function isWhole(node: GraphNode): boolean {
  const name = eventName.value;
  return node.cost[name] === node.inclusive[name];
}

/** `true` if the cost is the inclusive cost, and that is only a limit. */
function isBound(node: GraphNode): boolean {
  return node.inclusive_is_upper_bound === true && isWhole(node);
}

/** The sign before the cost of a box. */
function markOf(node: GraphNode): string {
  return isBound(node) ? "≤" : node.cost_is_estimate ? "~" : "";
}

/** The share of a box, with its sign. */
export function nodeShare(node: GraphNode): string {
  return markOf(node) + percentOf(node.cost[eventName.value], whole.value);
}

/** The share of a box and, if it has the whole function, that of the self cost, as far as there is space. */
export function nodeLabel(node: GraphNode): string {
  const cost = nodeShare(node);
  const self = (node.self_estimated ? "~" : "") + percentOf(node.self[eventName.value], whole.value);
  return fitting(isWhole(node) ? [`${cost} · self ${self}`, cost] : [cost], node.width - 10);
}

function sayNode(node: GraphNode): string {
  const name = eventName.value;
  const parts = [
    `${visible(node.name)}: ${markOf(node)}${grouped(node.cost[name])} ${name}, ${percentOf(node.cost[name], whole.value)} of all`,
    `self ${node.self_estimated ? "~" : ""}${grouped(node.self[name])}${isWhole(node) ? "" : " in all calls of it"}`,
    isBound(node) ? boundReason() : "",
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

export function GraphView() {
  return isComparing.value ? <ChangedGraphView /> : <PlainGraph />;
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
                ? `Boxes: the cost of ${visible(place.value.name)} while it runs, or what comes through them; ~: an estimate. Arcs: all their calls.`
                : "Costs are inclusive."}
            </p>
            {asTable ? <ArcTable graph={answer} /> : <Canvas graph={answer} arc={arc} onArc={setArc} />}
            <ChosenCalls graph={answer} arc={arc} onClose={() => setArc(-1)} />
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

/** The chosen calls, which can be cut. */
function ChosenCalls({ graph, arc, onClose }: { graph: Graph; arc: number; onClose: () => void }) {
  const chosen = graph.arcs[arc];
  if (!chosen) return null;
  const [caller, callee] = [graph.nodes[chosen.caller]!, graph.nodes[chosen.callee]!];
  return (
    <ArcPanel say={sayArc(graph, chosen)} caller={caller} callee={callee} onClose={onClose}>
      <button
        title="Take these calls out of the graph; all numbers follow"
        onClick={() => cutCalls(caller.name, callee.name)}
      >
        Cut these calls
      </button>
    </ArcPanel>
  );
}

function Canvas({ graph, arc, onArc }: { graph: Graph; arc: number; onArc: (arc: number) => void }) {
  return (
    <GraphCanvas
      graph={graph}
      label="Call graph"
      rowOf={(node: GraphNode) => node}
      sizeOf={(one: GraphArc) => Number(one.cost[eventName.value] ?? 0)}
      sayNode={sayNode}
      sayArc={(one) => sayArc(graph, one)}
      drawNode={(node, index, onKeyDown) => (
        <Node key={node.id ?? node.name} node={node} index={index} onKeyDown={onKeyDown} />
      )}
      drawArc={(one, index) => (
        <ArcLine
          key={index}
          points={one.points}
          width={widthOf(one.cost[eventName.value], whole.value)}
          say={sayArc(graph, one)}
          classes={[index === arc ? "chosen" : "", one.is_inner ? "inner" : ""]}
          onChoose={() => onArc(index)}
        >
          <text x={one.label[0]} y={one.label[1]} text-anchor="middle" dominant-baseline="middle">
            {arcLabel(one)}
          </text>
        </ArcLine>
      )}
      onArc={onArc}
    />
  );
}

function Stub({
  count,
  cost,
  isEstimate,
  what,
  x,
  y,
}: {
  count: number;
  cost: number | string | undefined;
  isEstimate: boolean;
  what: string;
  x: number;
  y: number;
}) {
  if (count === 0) return null;
  return (
    <text class="stub" x={x} y={y} text-anchor="middle">
      +{grouped(count)} {count === 1 ? what : `${what}s`}, {isEstimate ? "~" : ""}
      {costText(cost)}
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
  const { x, y, width, height } = node;
  const inclusive = Math.min(1, Math.max(0, share(node.cost[name], whole.value)));
  const self = isWhole(node) ? Math.min(inclusive, Math.max(0, share(node.self[name], whole.value))) : 0;
  const isSelected = node.id !== null && node.id === selected.value;
  const classes = [
    node.is_center ? "centre" : "",
    isSelected ? "selected" : "",
    node.cost_is_estimate ? "guessed" : "",
  ];
  return (
    <NodeBox node={node} index={index} row={node} say={sayNode(node)} classes={classes} onKeyDown={onKeyDown}>
      <rect class="inclusive" x={x + 4} y={y + height - 7} width={(width - 8) * inclusive} height="4" />
      <rect class="self" x={x + 4} y={y + height - 7} width={(width - 8) * self} height="4" />
      <text x={x + 6} y={y + 14}>
        {fitted(node.name, (width - 12) / CHARACTER_PIXELS)}
      </text>
      <text class="small" x={x + 6} y={y + Math.min(height - 9, 27)}>
        {nodeLabel(node)}
      </text>
      <Stub
        count={node.hidden_callers}
        cost={node.hidden_callers_cost[name]}
        isEstimate={node.hidden_callers_is_estimate}
        what="caller"
        x={x + width / 2}
        y={y - 5}
      />
      <Stub
        count={node.hidden_callees}
        cost={node.hidden_callees_cost[name]}
        isEstimate={node.hidden_callees_is_estimate}
        what="callee"
        x={x + width / 2}
        y={y + height + 12}
      />
    </NodeBox>
  );
}

/** The longest of the texts that fits a width. */
export function fitting(texts: string[], width: number): string {
  return texts.find((text) => text.length * SMALL_CHARACTER_PIXELS <= width) ?? texts.at(-1)!;
}
