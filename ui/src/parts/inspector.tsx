import { callCount, grouped, percentOf, visible } from "../format";
import { eventName, go, place, total } from "../state";
import type { List, Neighbour, Show } from "../answers";
import { Cost, Hidden, Name, Status, useAnswer } from "./common";

export function Neighbours({
  title,
  list,
  answer,
  far,
}: {
  title: string;
  list: List<Neighbour>;
  answer: Show;
  far?: boolean;
}) {
  const whole = answer.inclusive[eventName.value];
  return (
    <section class="neighbours">
      <h3>
        {title} <span class="count">{grouped(list.all)}</span>
      </h3>
      {list.rows.length === 0 ? (
        <p class="faint">none</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th
                scope="col"
                class="num"
                title={`Percentages are of the inclusive cost of ${answer.function.name}`}
              >
                Cost, % of selected
              </th>
              <th scope="col" class="num">
                Calls
              </th>
              {far ? (
                <th scope="col" class="num">
                  Distance
                </th>
              ) : null}
              <th scope="col">Function</th>
            </tr>
          </thead>
          <tbody>
            {list.rows.map((row) => (
              <tr key={`${row.id}-${row.distance}-${row.via}`}>
                <td class="num">
                  <Cost
                    costs={row.cost}
                    {...(whole !== undefined ? { whole } : {})}
                    estimate={row.distance > 1 || row.cost_estimated === true}
                    bound={row.cost_is_upper_bound === true}
                    inner={row.inner || row.id === answer.function.id}
                  />
                </td>
                <td class="num">{callCount(row)}</td>
                {far ? <td class="num">{row.distance}</td> : null}
                <td>
                  <Name row={row} />
                  {row.inner ? (
                    <span class="tag" title="inside of a cycle">
                      cycle
                    </span>
                  ) : null}
                  {row.via ? <span class="at">via {visible(row.via)}</span> : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Hidden shown={list.rows.length} all={list.all} what={title.toLowerCase()} />
    </section>
  );
}

/** The pattern that only this name matches. */
function exactly(name: string): string {
  return `^${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
}

/** Facts, callers and callees of the selection. */
export function Inspector() {
  const id = place.value.function;
  const { answer, error } = useAnswer(
    id === null ? null : { kind: "function", function: id, depth: 1, limit: 30 },
  );
  if (id === null)
    return (
      <aside class="inspector" aria-label="Selection">
        <p class="hint">Select a function: its callers, callees and facts show here.</p>
      </aside>
    );
  return (
    <aside class="inspector" aria-label="Selection">
      <Status answer={answer} error={error}>
        {answer ? (
          <>
            <h2>{visible(answer.function.name)}</h2>
            <p class="where">
              {visible(answer.function.file)}
              <br />
              {visible(answer.function.object)}
            </p>
            <dl>
              <dt>Inclusive</dt>
              <dd>
                <Cost
                  costs={answer.inclusive}
                  estimate={answer.inclusive_estimated === true}
                  bound={answer.inclusive_is_upper_bound === true}
                />
              </dd>
              <dt>Self</dt>
              <dd>
                <Cost costs={answer.self} estimate={answer.self_estimated === true} />
              </dd>
              <dt>Calls</dt>
              <dd>
                {callCount(answer)}
                {answer.is_recursive ? <span class="tag">recursive</span> : null}
                {answer.function.cycle != null ? (
                  <span class="tag">cycle {answer.function.cycle}</span>
                ) : null}
              </dd>
            </dl>
            {answer.inclusive_is_upper_bound ? (
              <p class="note">The inclusive cost is an upper bound.</p>
            ) : null}
            <p class="actions">
              <button onClick={() => go({ view: "source", source: "" })}>Source</button>
              <button onClick={() => go({ view: "callers" })}>Callers</button>
              <button onClick={() => go({ view: "graph", around: true })}>Graph</button>
              <button onClick={() => go({ view: "flame", from: id, inverted: false })}>Flame</button>
              <button onClick={() => go({ focus: exactly(answer.function.name) })}>Focus</button>
              <button onClick={() => go({ hide: exactly(answer.function.name) })}>Hide</button>
            </p>
            <p class="base">
              {percentOf(answer.inclusive[eventName.value], total.value)} of the total {eventName.value}{" "}
              passes here.
            </p>
            <Neighbours title="Callers" list={answer.callers} answer={answer} />
            <Neighbours title="Callees" list={answer.callees} answer={answer} />
          </>
        ) : null}
      </Status>
    </aside>
  );
}
