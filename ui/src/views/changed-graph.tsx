// The call graph of a comparison: functions and calls of either side, with their changes.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ChangedArc, ChangedGraph, ChangedNode } from "../answers";
import { fitted, grouped, percent, share, signed, visible } from "../format";
import { place } from "../place";
import { announce, eventName, hover, isSelectedRow, joined, list, select, summary } from "../state";
import { Empty, Status, useAnswer } from "../parts/answer";
import { namedOrNone, NO_CHANGE, sayChange, totalBefore } from "../parts/changed-frames";
import { changeToken, palette } from "../parts/colours";
import { ChangeNumber, direction, Name, sidesOf } from "../parts/cost";
import { ChangeLegend } from "../parts/legend";
import { openMenu } from "../parts/menu";
import { Heads, Region } from "../parts/rows";
import { Export, xml, type Drawing } from "../parts/save";
import { TableSwitch } from "../parts/tools";
import { arrowOf, Cluster, GRAPH_HINT, GraphTools, limitsOf, NoCalls, pathOf, walk, widthOf } from "./graph";
import { Sheet, useSight } from "./graph-sight";

const CHARACTER_PIXELS = 6.6;

function changeOf(of: ChangedNode | ChangedArc) {
  return sidesOf(("cost" in of ? of.cost : of.inclusive)[eventName.value]) ?? NO_CHANGE;
}

function larger(of: ChangedNode | ChangedArc): number {
  const change = changeOf(of);
  return Math.max(Number(change.base), Number(change.new));
}

/** A share with its sign. */
function signedShare(fraction: number): string {
  return fraction > 0 ? `+${percent(fraction)}` : percent(fraction);
}

function presence(node: ChangedNode): "" | "new" | "gone" {
  if (node.on === "both") return "";
  return (node.on === "new") !== place.value.swapped ? "new" : "gone";
}

function sayNode(graph: ChangedGraph, node: ChangedNode): string {
  const self = sidesOf(node.self[eventName.value]) ?? NO_CHANGE;
  const more = [
    presence(node) ? ` (${presence(node)})` : "",
    node.base_name ? ` (before: ${visible(node.base_name)})` : "",
  ].join("");
  return `${sayChange(visible(node.name) + more, changeOf(node), totalBefore(graph))}; self ${signed(self.change)}`;
}

function sayArc(graph: ChangedGraph, arc: ChangedArc): string {
  const [caller, callee] = [graph.nodes[arc.caller]!, graph.nodes[arc.callee]!];
  const calls = sidesOf(arc.calls) ?? NO_CHANGE;
  const what = `${visible(caller.name)} → ${visible(callee.name)}`;
  return `${sayChange(what, changeOf(arc), totalBefore(graph))}; ${grouped(calls.base)} → ${grouped(calls.new)} calls`;
}

/** The share of the change; nothing for calls of a function to itself, whose levels overlap. */
function shareLabel(graph: ChangedGraph, arc: ChangedArc): string {
  return arc.caller === arc.callee ? "" : signedShare(share(changeOf(arc).change, totalBefore(graph)));
}

function callsLabel(arc: ChangedArc): string {
  const calls = sidesOf(arc.calls) ?? NO_CHANGE;
  const [before, after] = [grouped(calls.base), grouped(calls.new)];
  return before === after ? `${after}×` : `${before} → ${after}×`;
}

export function ChangedGraphView() {
  const { around, asTable } = place.value;
  const { answer, error } = useAnswer({
    kind: "changes_graph",
    around: around ? namedOrNone(place.value) : null,
    ...limitsOf(place.value),
  });
  const [arc, setArc] = useState(-1);
  useEffect(() => {
    setArc(-1);
    if (answer) list.value = answer.nodes.map(joined);
  }, [answer]);
  if (summary.value?.has.calls === false) return <NoCalls />;
  return (
    <>
      <div class="tools">
        <GraphTools shown={answer?.nodes.length} all={answer?.all_nodes} />
        <TableSwitch />
        {answer ? (
          <Export
            name="changed-call-graph"
            json={answer}
            rows={() => cells(answer)}
            draw={() => drawing(answer)}
          />
        ) : null}
      </div>
      <Status answer={answer} error={error}>
        {answer && answer.nodes.length === 0 ? (
          <Empty title="No calls to draw">Lower the least share, or draw the whole program.</Empty>
        ) : null}
        {answer && answer.nodes.length > 0 ? (
          <>
            {asTable ? <ArcTable graph={answer} /> : <Canvas graph={answer} arc={arc} onArc={setArc} />}
            <ArcPanel graph={answer} arc={arc} onClose={() => setArc(-1)} />
            <ChangeLegend missing="dashed: only on one side" />
          </>
        ) : null}
      </Status>
    </>
  );
}

function cells(graph: ChangedGraph) {
  return [
    ["caller", "callee", "cost before", "cost after", "change", "calls before", "calls after"],
    ...graph.arcs.map((arc) => {
      const [cost, calls] = [changeOf(arc), sidesOf(arc.calls)];
      const names = [graph.nodes[arc.caller]!.name, graph.nodes[arc.callee]!.name];
      return [...names, cost.base, cost.new, cost.change, calls?.base, calls?.new];
    }),
  ];
}

function ArcTable({ graph }: { graph: ChangedGraph }) {
  const size = (arc: ChangedArc) => Math.abs(Number(changeOf(arc).change));
  const arcs = [...graph.arcs].sort((a, b) => size(b) - size(a));
  return (
    <Region label="Calls of the graph">
      <table>
        <Heads numbers={["Before", "After", "Change of cost", "of calls"]} texts={["Caller", "Callee"]} />
        <tbody>
          {arcs.map((arc) => (
            <tr key={`${arc.caller} ${arc.callee}`}>
              <td class="num">{grouped(changeOf(arc).base)}</td>
              <td class="num">{grouped(changeOf(arc).new)}</td>
              <td class="num">
                <ChangeNumber change={changeOf(arc)} />
              </td>
              <td class="num">
                <ChangeNumber change={sidesOf(arc.calls)} />
              </td>
              <td class="half">
                <Name row={joined(graph.nodes[arc.caller]!)} bare />
              </td>
              <td class="half">
                <Name row={joined(graph.nodes[arc.callee]!)} bare />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Region>
  );
}

function ArcPanel({ graph, arc, onClose }: { graph: ChangedGraph; arc: number; onClose: () => void }) {
  const chosen = graph.arcs[arc];
  if (!chosen) return null;
  return (
    <p class="arc-panel" role="status">
      <span>{sayArc(graph, chosen)}</span>
      <button onClick={() => select(joined(graph.nodes[chosen.caller]!))}>Caller</button>
      <button onClick={() => select(joined(graph.nodes[chosen.callee]!))}>Callee</button>
      <button aria-label="Close" onClick={onClose}>
        ×
      </button>
    </p>
  );
}

function Canvas({ graph, arc, onArc }: { graph: ChangedGraph; arc: number; onArc: (arc: number) => void }) {
  const sight = useSight(graph);
  const onKeyDown = (e: KeyboardEvent, from: number) => {
    if (e.key === "Enter" || e.key === " ") select(joined(graph.nodes[from]!));
    else if (e.key.startsWith("Arrow") && !e.altKey) {
      const next = walk(graph.nodes, graph.arcs, larger, from, e.key);
      if (!next) return;
      if (next.arc >= 0) onArc(next.arc);
      const node = graph.nodes[next.node]!;
      announce.value = next.arc >= 0 ? sayArc(graph, graph.arcs[next.arc]!) : sayNode(graph, node);
      sight.centre(node);
      document.getElementById(`node-${next.node}`)?.focus();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <Sheet graph={graph} of={sight} label="Call graph of the changes" hint={GRAPH_HINT}>
      {graph.clusters.map((cluster) => (
        <Cluster key={cluster.name} name={cluster.name} bounds={cluster.bounds} />
      ))}
      {graph.arcs.map((one, index) => (
        <Arc key={index} graph={graph} arc={one} isChosen={index === arc} onChoose={() => onArc(index)} />
      ))}
      {graph.nodes.map((node, index) => (
        <Node
          key={node.id ?? node.name}
          graph={graph}
          node={node}
          index={index}
          onKeyDown={(e) => onKeyDown(e, index)}
        />
      ))}
    </Sheet>
  );
}

function Arc({
  graph,
  arc,
  isChosen,
  onChoose,
}: {
  graph: ChangedGraph;
  arc: ChangedArc;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const path = useMemo(() => pathOf(arc.points), [arc]);
  const change = changeOf(arc);
  const total = totalBefore(graph);
  const isOneSided = Number(change.base) === 0 || Number(change.new) === 0;
  const [x, y] = arc.label;
  return (
    <g
      class={`arc ${direction(change)}${isChosen ? " chosen" : ""}${isOneSided ? " inner" : ""}`}
      onMouseEnter={() => {
        hover.value = sayArc(graph, arc);
      }}
      onClick={onChoose}
    >
      <path class="reach" d={path} />
      <path d={path} stroke-width={widthOf(larger(arc), total)} />
      <path class="head" d={arrowOf(arc.points)} />
      <text x={x} y={y - 6} text-anchor="middle" dominant-baseline="middle">
        {shareLabel(graph, arc)}
      </text>
      <text x={x} y={y + 7} text-anchor="middle" dominant-baseline="middle">
        {callsLabel(arc)}
      </text>
    </g>
  );
}

function Node({
  graph,
  node,
  index,
  onKeyDown,
}: {
  graph: ChangedGraph;
  node: ChangedNode;
  index: number;
  onKeyDown: (e: KeyboardEvent) => void;
}) {
  const { x, y, width, height } = node;
  const row = joined(node);
  const say = sayNode(graph, node);
  const change = changeOf(node);
  const token = changeToken(share(change.change, totalBefore(graph)));
  const classes = ["node", `change-${token.slice(3)}`, node.is_center ? "centre" : ""];
  if (isSelectedRow(row)) classes.push("selected");
  if (presence(node)) classes.push("guessed");
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
      onClick={() => select(row)}
      onContextMenu={(e) => openMenu(e, row)}
      onKeyDown={onKeyDown}
    >
      <rect x={x} y={y} width={width} height={height} rx="4" />
      <text x={x + 6} y={y + 16}>
        {fitted(node.name, (width - 12) / CHARACTER_PIXELS)}
      </text>
      <text class="figure" x={x + 6} y={y + 33}>
        {figures(graph, node)}
        {presence(node) ? <tspan class="side"> {presence(node)}</tspan> : null}
      </text>
    </g>
  );
}

/** The change of a box, with an arrow: colour is not the only sign. */
function figures(graph: ChangedGraph, node: ChangedNode): string {
  const change = changeOf(node);
  const way = direction(change);
  const arrow = way === "worse" ? "▲ " : way === "better" ? "▼ " : "";
  return `${arrow}${signedShare(share(change.change, totalBefore(graph)))}`;
}

/** The graph as a document. */
function drawing(graph: ChangedGraph): Drawing {
  const colour = palette();
  const [text, line, ground, less, more] = ["--text", "--dim", "--bg", "--less", "--more"].map(colour) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const total = totalBefore(graph);
  const inkOf = { worse: more, better: less, same: line };
  const arcs = graph.arcs.map((arc) => {
    const [x, y] = arc.label;
    const change = changeOf(arc);
    const ink = inkOf[direction(change)];
    return (
      `<g><title>${xml(sayArc(graph, arc))}</title>` +
      `<path d="${pathOf(arc.points)}" fill="none" stroke="${ink}" stroke-width="${widthOf(larger(arc), total).toFixed(2)}"/>` +
      `<path d="${arrowOf(arc.points)}" fill="${ink}"/>` +
      `<text x="${x}" y="${y + 3}" font-size="10" text-anchor="middle" fill="${text}">` +
      `${xml(`${shareLabel(graph, arc)} ${callsLabel(arc)}`.trim())}</text></g>`
    );
  });
  const nodes = graph.nodes.map((node) => {
    const { x, y, width, height } = node;
    const ink = inkOf[direction(changeOf(node))];
    return (
      `<g><title>${xml(sayNode(graph, node))}</title>` +
      `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4" fill="${ground}" stroke="${ink}" stroke-width="2"/>` +
      `<text x="${x + 6}" y="${y + 16}" font-size="11" fill="${text}">${xml(fitted(node.name, (width - 12) / CHARACTER_PIXELS))}</text>` +
      `<text x="${x + 6}" y="${y + 33}" font-size="11" fill="${text}">${xml(`${figures(graph, node)} ${presence(node)}`)}</text></g>`
    );
  });
  const { width, height } = graph;
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${ground}"/>${arcs.join("")}${nodes.join("")}</svg>`;
  return { svg, width, height };
}
