// The selection in comparison: both sides, and what changed among its callers and callees.
import type { ChangedCall, DiffFunction } from "../answers";
import { base, grouped, visible } from "../format";
import { changedFunction, eventName, joined, select, twin } from "../state";
import { Status, useAnswer } from "./answer";
import { ChangeCost, ChangeNumber, sidesOf } from "./cost";
import { Heads } from "./rows";

const MAX_ROWS = 20;

/** Inclusive cost, self cost and calls of a function, before and after. */
export function ChangedFactList({ answer }: { answer: DiffFunction }) {
  const event = eventName.value;
  const row = answer.function;
  const facts = [
    ["Inclusive", sidesOf(row.inclusive[event])],
    ["Self", sidesOf(row.self[event])],
    ["Calls", sidesOf(row.calls)],
  ] as const;
  return (
    <dl class="changes">
      {facts.map(([name, change]) => (
        <>
          <dt key={name}>{name}</dt>
          <dd>
            {grouped(change?.base)} → {grouped(change?.new)}{" "}
            <ChangeNumber change={change} isCount={name === "Calls"} />
          </dd>
        </>
      ))}
    </dl>
  );
}

function Calls({ title, rows }: { title: string; rows: ChangedCall[] }) {
  return (
    <section aria-label={title}>
      <h3>
        {title} <span class="count">{grouped(rows.length)}</span>
      </h3>
      {rows.length === 0 ? (
        <p class="faint">none</p>
      ) : (
        <table>
          <Heads numbers={["Change of cost", "of calls"]} texts={["Function"]} />
          <tbody>
            {rows.slice(0, MAX_ROWS).map((row) => {
              const calls = sidesOf(row.calls);
              return (
                <tr key={row.function.id}>
                  <td class="num">
                    <ChangeCost changes={row.inclusive} />
                  </td>
                  <td class="num">
                    {grouped(calls?.base)} → {grouped(calls?.new)}
                  </td>
                  <td>
                    <button
                      class="name"
                      title={visible(row.function.name)}
                      onClick={() => select(joined(row.function))}
                    >
                      <span class="fn">{visible(row.function.name)}</span>
                      <span class="at">{base(row.function.file)}</span>
                    </button>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {rows.length > MAX_ROWS ? (
        <p class="hidden">{grouped(rows.length - MAX_ROWS)} more are in Callers, callees.</p>
      ) : null}
    </section>
  );
}

export function ChangedSelection() {
  const { answer, error } = useAnswer(changedFunction.value);
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <h2>{visible(answer.function.name)}</h2>
          <p class="where">
            {visible(answer.function.file)}
            {answer.function.base_name ? (
              <>
                <br />
                before: {visible(answer.function.base_name)}
              </>
            ) : null}
          </p>
          {twin.value === "" ? null : (
            <p class="note">Others have its name, file and object: this is one of them.</p>
          )}
          <ChangedFactList answer={answer} />
          <Calls title="Callers" rows={answer.callers} />
          <Calls title="Callees" rows={answer.callees} />
        </>
      ) : null}
    </Status>
  );
}
