import { useEffect, useState } from "preact/hooks";
import { callCount } from "../format";
import { go, place } from "../state";
import { Cost, Export, Name, Status, useAnswer } from "../parts/common";
import { Certainty } from "../parts/picture";
import { eventName } from "../state";

export function TreeView() {
  const { from, inverted } = place.value;
  const { answer, error } = useAnswer({
    kind: "tree",
    from,
    inverted,
    min_share: 5,
    max_depth: 60,
    limit: 1500,
  });
  const [closed, setClosed] = useState<Set<number>>(new Set());
  useEffect(() => setClosed(new Set()), [answer]);
  const nodes = answer?.nodes ?? [];
  const parents = new Set(nodes.map((node) => node.parent));
  const gone = new Set<number>();
  nodes.forEach((node, i) => {
    if (node.parent !== null && (gone.has(node.parent) || closed.has(node.parent))) gone.add(i);
  });
  const toggle = (i: number) => {
    const next = new Set(closed);
    if (!next.delete(i)) next.add(i);
    setClosed(next);
  };
  return (
    <>
      <div class="tools">
        <label>
          <input type="checkbox" checked={inverted} onChange={() => go({ inverted: !inverted })} /> callers
          below
        </label>
        {from !== null ? <button onClick={() => go({ from: null })}>From one function ×</button> : null}
        <span class="dim">calls below 0.5% of the root are not shown</span>
        {answer ? (
          <Export
            name="tree"
            json={answer}
            rows={() =>
              nodes.map((node) => [
                node.depth,
                answer.functions[node.function]!.name,
                node.inclusive[eventName.value] ?? "",
                node.self[eventName.value] ?? "",
              ])
            }
          />
        ) : null}
      </div>
      <Status answer={answer} error={error}>
        {answer ? (
          <>
            <Certainty basis={answer.basis} />
            <div class="scroll" tabIndex={0} role="region" aria-label="Call tree">
              <table role="treegrid" aria-label="Call tree">
                <thead>
                  <tr>
                    <th scope="col" class="num">
                      Inclusive
                    </th>
                    <th scope="col" class="num">
                      Self
                    </th>
                    <th scope="col" class="num">
                      Calls
                    </th>
                    <th scope="col">Function</th>
                  </tr>
                </thead>
                <tbody>
                  {nodes.map((node, i) =>
                    gone.has(i) ? null : (
                      <tr
                        key={i}
                        aria-level={node.depth + 1}
                        aria-expanded={parents.has(i) ? !closed.has(i) : undefined}
                        aria-selected={
                          answer.functions[node.function]!.id !== null &&
                          answer.functions[node.function]!.id === place.value.function
                        }
                      >
                        <td class="num">
                          <Cost costs={node.inclusive} estimate={node.guessed} />
                        </td>
                        <td class="num">
                          <Cost costs={node.self} estimate={node.self_guessed} bar={false} />
                        </td>
                        <td class="num">{callCount(node)}</td>
                        <td>
                          <Indent depth={node.depth} />
                          {parents.has(i) ? (
                            <button
                              class="name"
                              aria-label={closed.has(i) ? "Open" : "Close"}
                              onClick={() => toggle(i)}
                            >
                              {closed.has(i) ? "▸" : "▾"}{" "}
                            </button>
                          ) : (
                            "  "
                          )}
                          <Name row={answer.functions[node.function]!} />
                          {node.hidden > 0 ? <span class="at">+{node.hidden} not shown</span> : null}
                        </td>
                      </tr>
                    ),
                  )}
                </tbody>
              </table>
            </div>
          </>
        ) : null}
      </Status>
    </>
  );
}
function Indent({ depth }: { depth: number }) {
  return <span aria-hidden="true">{"\u2003".repeat(Math.min(depth, 40))}</span>;
}
