// The call graph of a comparison: functions and calls of either side, with their changes.
import { useEffect, useState } from "preact/hooks";
import type { ChangedArc, ChangedGraph, ChangedNode } from "../answers";
import { grouped, percent, share, signed, visible } from "../format";
import { fitted } from "../names";
import { namedOrNone, place } from "../place";
import { eventName, isSelectedRow, joined, list, summary } from "../state";
import { Empty, Status, useAnswer } from "../parts/answer";
import { NO_CHANGE, sayChange, totalBefore } from "../parts/changed-frames";
import { changeToken, palette } from "../parts/colours";
import { ChangeNumber, direction, Name, sidesOf } from "../parts/cost";
import { ChangeLegend } from "../parts/legend";
import { Heads, Region } from "../parts/rows";
import { Export, xml, type Drawing } from "../parts/save";
import { TableSwitch } from "../parts/tools";
import { ArcLine, ArcPanel, GraphCanvas, NodeBox } from "./graph-canvas";
import { arrowOf, CHARACTER_PIXELS, graphDocument, pathOf, widthOf } from "./graph-geometry";
import { GraphTools, limitsOf, NoCalls } from "./graph-tools";

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
            <ChosenCalls graph={answer} arc={arc} onClose={() => setArc(-1)} />
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
                <ChangeNumber change={sidesOf(arc.calls)} isCount />
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

function ChosenCalls({ graph, arc, onClose }: { graph: ChangedGraph; arc: number; onClose: () => void }) {
  const chosen = graph.arcs[arc];
  if (!chosen) return null;
  const [caller, callee] = [graph.nodes[chosen.caller]!, graph.nodes[chosen.callee]!];
  return (
    <ArcPanel say={sayArc(graph, chosen)} caller={joined(caller)} callee={joined(callee)} onClose={onClose} />
  );
}

function Canvas({ graph, arc, onArc }: { graph: ChangedGraph; arc: number; onArc: (arc: number) => void }) {
  return (
    <GraphCanvas
      graph={graph}
      label="Call graph of the changes"
      rowOf={(node: ChangedNode) => joined(node)}
      sizeOf={(one: ChangedArc) => larger(one)}
      sayNode={(node) => sayNode(graph, node)}
      sayArc={(one) => sayArc(graph, one)}
      drawNode={(node, index, onKeyDown) => (
        <Node key={node.id ?? node.name} graph={graph} node={node} index={index} onKeyDown={onKeyDown} />
      )}
      drawArc={(one, index) => (
        <Arc key={index} graph={graph} arc={one} isChosen={index === arc} onChoose={() => onArc(index)} />
      )}
      onArc={onArc}
    />
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
  const change = changeOf(arc);
  const isOneSided = Number(change.base) === 0 || Number(change.new) === 0;
  const [x, y] = arc.label;
  return (
    <ArcLine
      points={arc.points}
      width={widthOf(larger(arc), totalBefore(graph))}
      say={sayArc(graph, arc)}
      classes={[direction(change), isChosen ? "chosen" : "", isOneSided ? "inner" : ""]}
      onChoose={onChoose}
    >
      <text x={x} y={y - 6} text-anchor="middle" dominant-baseline="middle">
        {shareLabel(graph, arc)}
      </text>
      <text x={x} y={y + 7} text-anchor="middle" dominant-baseline="middle">
        {callsLabel(arc)}
      </text>
    </ArcLine>
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
  const { x, y, width } = node;
  const row = joined(node);
  const token = changeToken(share(changeOf(node).change, totalBefore(graph)));
  const classes = [
    `change-${token.slice(3)}`,
    node.is_center ? "centre" : "",
    isSelectedRow(row) ? "selected" : "",
    presence(node) ? "guessed" : "",
  ];
  const say = sayNode(graph, node);
  return (
    <NodeBox node={node} index={index} row={row} say={say} classes={classes} onKeyDown={onKeyDown}>
      <text x={x + 6} y={y + 16}>
        {fitted(node.name, (width - 12) / CHARACTER_PIXELS)}
      </text>
      <text class="figure" x={x + 6} y={y + 33}>
        {figures(graph, node)}
        {presence(node) ? <tspan class="side"> {presence(node)}</tspan> : null}
      </text>
    </NodeBox>
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
  return graphDocument(graph, arcs, nodes);
}
