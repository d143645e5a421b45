// The costs of the selection in all event types.
import { useEffect, useState } from "preact/hooks";
import type { Show } from "../answers";
import { visible } from "../format";
import { ask, scope, scopeKey, summary, totalOf } from "../state";
import { go } from "../place";
import { Cost } from "./cost";
import { Heads } from "./rows";

/** The costs of a function in all event types, recorded and derived. Asked for only when they are opened. */
export function EventTypes({ id }: { id: number }) {
  const [isOpen, setOpen] = useState(false);
  const [answer, setAnswer] = useState<Show | null>(null);
  const [problem, setProblem] = useState("");
  const types = summary.value?.event_types ?? [];
  const names = types.map((type) => type.name);
  const key = `${scopeKey.value} ${id} ${names.join(" ")}`;
  useEffect(() => {
    setAnswer(null);
    setProblem("");
    if (!isOpen || names.length < 2) return;
    const control = new AbortController();
    ask({ kind: "function", function: id, depth: 1, limit: 1 }, control.signal, {
      ...scope.value,
      events: names,
    }).then(
      (shown) => {
        if (!control.signal.aborted) setAnswer(shown);
      },
      (error: Error) => {
        if (!control.signal.aborted) setProblem(error.message);
      },
    );
    return () => control.abort();
  }, [isOpen, key]);
  if (names.length < 2) return null;
  return (
    <details class="more" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>All {names.length} event types</summary>
      {problem ? <p class="warn">{problem}</p> : null}
      {answer ? (
        <table>
          <Heads numbers={["Inclusive", "Self"]} texts={["Event type"]} />
          <tbody>
            {types.map((type) => (
              <tr key={type.name}>
                <td class="num">
                  <Cost
                    costs={answer.inclusive}
                    event={type.name}
                    whole={totalOf(type.name)}
                    estimate={answer.inclusive_estimated}
                    bound={answer.inclusive_is_upper_bound}
                  />
                </td>
                <td class="num">
                  <Cost
                    costs={answer.self}
                    event={type.name}
                    whole={totalOf(type.name)}
                    estimate={answer.self_estimated}
                  />
                </td>
                <td>
                  <button
                    class="name"
                    title={visible(type.long_name ?? type.formula ?? type.name)}
                    onClick={() => go({ event: type.name })}
                  >
                    {visible(type.name)}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
    </details>
  );
}
