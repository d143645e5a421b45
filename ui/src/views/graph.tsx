import { useState } from "preact/hooks";
import { callCount, grouped, percentOf, shorter, visible } from "../format";
import { eventName, go, hover, place, select, total } from "../state";
import { Empty, Status, useAnswer } from "../parts/common";

export function GraphView() {
  const { around, function: selected } = place.value;
  const [count, setCount] = useState(40);
  const [zoom, setZoom] = useState(1);
  const { answer, error } = useAnswer({
    kind: "graph",
    around: around ? selected : null,
    callers: 2,
    callees: 6,
    nodes: count,
    min_share: 10,
    cluster: "function",
  });
  const name = eventName.value;
  const widest = (cost: number) => 0.7 + 5 * Math.sqrt(Math.max(0, cost) / Math.max(1, Number(total.value)));
  const path = (points: [number, number][]) =>
    points.map(([x, y], i) => `${i === 0 ? "M" : i % 3 === 1 ? "C" : ""}${x} ${y}`).join(" ");
  return (
    <>
      <div class="tools">
        <label>
          <input type="checkbox" checked={around} onChange={() => go({ around: !around })} /> around the
          selection
        </label>
        <label>
          Functions{" "}
          <input
            type="range"
            min={10}
            max={200}
            step={10}
            value={count}
            onChange={(e) => setCount(Number(e.currentTarget.value))}
          />{" "}
          {count}
        </label>
        <button data-key="-" aria-label="Smaller" onClick={() => setZoom(Math.max(0.2, zoom / 1.25))}>
          −
        </button>
        <button data-key="0" onClick={() => setZoom(1)}>
          {Math.round(zoom * 100)}%
        </button>
        <button data-key="+" aria-label="Larger" onClick={() => setZoom(Math.min(4, zoom * 1.25))}>
          +
        </button>
        {answer ? (
          <span class="dim">
            {answer.nodes.length} of {grouped(answer.all_nodes)} functions
          </span>
        ) : null}
      </div>
      <Status answer={answer} error={error}>
        {answer && answer.nodes.length === 0 ? (
          <Empty title="No calls">The profile has no calls to draw.</Empty>
        ) : answer ? (
          <>
            <p class="note">
              {around && selected !== null
                ? "Costs are of the function in the middle, while it runs; beyond its direct calls they are estimates."
                : "Costs are inclusive."}
            </p>
            <div class="scroll" tabIndex={0} role="region" aria-label="Call graph">
              <svg
                class="graph"
                width={answer.width * zoom}
                height={answer.height * zoom}
                viewBox={`0 0 ${answer.width} ${answer.height}`}
                fill="none"
                stroke="currentColor"
                aria-label="Call graph"
                role="group"
              >
                {answer.arcs.map((arc, i) => (
                  <g key={i} opacity={0.75}>
                    <path
                      d={path(arc.points)}
                      stroke-width={widest(Number(arc.cost[name]))}
                      stroke-dasharray={arc.is_inner ? "4 3" : undefined}
                    />
                    <text
                      class="arc-label"
                      x={arc.label[0]}
                      y={arc.label[1]}
                      font-size="10"
                      text-anchor="middle"
                      fill="currentColor"
                      stroke="none"
                    >
                      {percentOf(arc.cost[name], total.value)} · {callCount(arc)}×
                    </text>
                  </g>
                ))}
                {answer.nodes.map((node, i) => {
                  const label =
                    shorter(node.name).find((form) => form.length * 6.6 < node.width - 10) ??
                    `${shorter(node.name)
                      .at(-1)!
                      .slice(0, Math.max(3, Math.floor(node.width / 6.6) - 3))}…`;
                  const say = `${visible(node.name)}: ${grouped(node.cost[name])} ${name}, ${percentOf(node.cost[name], total.value)} of all`;
                  return (
                    <g
                      key={i}
                      tabIndex={0}
                      role="button"
                      aria-label={say}
                      class="node"
                      onMouseEnter={() => {
                        hover.value = say;
                      }}
                      onClick={() => select(node)}
                      onKeyDown={(e) => {
                        if (e.key === "Enter") select(node);
                      }}
                    >
                      <rect
                        x={node.x}
                        y={node.y}
                        width={node.width}
                        height={node.height}
                        rx="4"
                        fill="var(--panel)"
                        stroke-width={node.is_center || node.id === selected ? 2.5 : 1}
                      />
                      <text x={node.x + 6} y={node.y + 15} font-size="11" fill="currentColor" stroke="none">
                        {label}
                      </text>
                      <text x={node.x + 6} y={node.y + 29} font-size="10" fill="currentColor" stroke="none">
                        {percentOf(node.cost[name], total.value)} · self{" "}
                        {percentOf(node.self[name], total.value)}
                        {node.hidden_callees ? ` · +${node.hidden_callees}` : ""}
                      </text>
                    </g>
                  );
                })}
              </svg>
            </div>
          </>
        ) : null}
      </Status>
    </>
  );
}
