// The call trees of both sides as one table.
import { useMemo, useState } from "preact/hooks";
import type { DiffTree } from "../answers";
import { grouped } from "../format";
import { CHANGED_TREE_LIMITS } from "../shell";
import { eventName, isSelectedRow, joined } from "../state";
import { Status, useAnswer } from "../parts/answer";
import { ChangeNumber, Name, sidesOf } from "../parts/cost";
import { Indent } from "../parts/indent";
import { Certainty } from "../parts/picture";
import { Heads, Pad, Region, useRows } from "../parts/rows";
import { Export } from "../parts/save";

const ROW_HEIGHT = 24;

/** The rows of the joined tree, for a table elsewhere. */
function changedRows(answer: DiffTree): (string | number | null | undefined)[][] {
  const event = eventName.value;
  return [
    ["level", "function", "base", "new", "change"],
    ...answer.nodes.map((node) => {
      const change = sidesOf(node.inclusive[event]);
      return [node.depth, answer.functions[node.function]!.name, change?.base, change?.new, change?.change];
    }),
  ];
}

export function ChangedTree() {
  const { answer, error } = useAnswer({ kind: "changes_tree", ...CHANGED_TREE_LIMITS });
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <div class="tools">
            <span class="dim">calls that changed by less than 0.1% are not shown</span>
            <Export name="changes-tree" json={answer} rows={() => changedRows(answer)} />
          </div>
          <Certainty basis={answer.basis} />
          <ChangedTreeTable answer={answer} />
        </>
      ) : null}
    </Status>
  );
}

function ChangedTreeTable({ answer }: { answer: DiffTree }) {
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const parents = useMemo(() => new Set(answer.nodes.map((node) => node.parent)), [answer]);
  const shown = useMemo(() => {
    const hidden = new Set<number>();
    return answer.nodes.flatMap((node, index) => {
      const { parent } = node;
      if (parent !== null && (hidden.has(parent) || closed.has(parent))) hidden.add(index);
      return hidden.has(index) ? [] : [index];
    });
  }, [answer, closed]);
  const rows = useRows(shown.length, ROW_HEIGHT);
  const toggle = (index: number) => {
    const next = new Set(closed);
    if (!next.delete(index)) next.add(index);
    setClosed(next);
  };
  const event = eventName.value;
  return (
    <Region label="Changes in the call tree" rows={rows}>
      <table role="treegrid" aria-label="Changes in the call tree" aria-rowcount={shown.length + 1}>
        <Heads
          numbers={["Before", "After", `Change of inclusive ${event}`, "of self", "of calls"]}
          texts={["Function"]}
        />
        <tbody>
          <Pad at={rows.above} columns={6} />
          {shown.slice(rows.from, rows.to).map((index, i) => {
            const node = answer.nodes[index]!;
            const at = answer.functions[node.function]!;
            const change = sidesOf(node.inclusive[event]);
            return (
              <tr
                key={index}
                aria-level={node.depth + 1}
                aria-rowindex={rows.from + i + 2}
                aria-expanded={parents.has(index) ? !closed.has(index) : undefined}
                aria-selected={isSelectedRow(joined(at))}
              >
                {[change?.base, change?.new].map((cost, side) => (
                  <td key={side} class="num">
                    {node.guessed ? "~" : ""}
                    {grouped(cost)}
                  </td>
                ))}
                <td class="num">
                  <ChangeNumber change={change} estimate={node.guessed} />
                </td>
                <td class="num">
                  <ChangeNumber change={sidesOf(node.self[event])} estimate={node.self_guessed} />
                </td>
                <td class="num">
                  <ChangeNumber change={sidesOf(node.calls)} estimate={node.calls_guessed} isCount />
                </td>
                <td>
                  <Indent depth={node.depth} />
                  {parents.has(index) ? (
                    <button
                      class="twist"
                      aria-label={closed.has(index) ? "Open" : "Close"}
                      onClick={() => toggle(index)}
                    >
                      {closed.has(index) ? "▸" : "▾"}
                    </button>
                  ) : (
                    <span class="twist" />
                  )}
                  <Name row={joined(at)} />
                  {at.base_name && at.base_name !== at.name ? (
                    <span class="at">before: {at.base_name}</span>
                  ) : null}
                </td>
              </tr>
            );
          })}
          <Pad at={rows.below} columns={6} />
        </tbody>
      </table>
    </Region>
  );
}
