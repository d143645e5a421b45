import { Heads, NumberHead } from "./rows";
import { cutCalls, hideFunction } from "../actions";
import type { Cycle, List, Neighbour, Show } from "../answers";
import { callCount, grouped, percentOf, visible } from "../format";
import { go, place } from "../place";
import {
  eventName,
  exactly,
  isComparing,
  isMissing,
  selected,
  selection,
  selectionError,
  shownEvents,
  startAt,
  summary,
  totalOf,
  twin,
} from "../state";
import { Hidden, Status, useAnswer } from "./answer";
import { ChangedSelection } from "./changed-selection";
import { EventTypes } from "./event-types";
import { Cost, Name } from "./cost";
import { Splitter } from "./splitter";
import { Names } from "./room";

function NeighbourRow({ row, answer, far }: { row: Neighbour; answer: Show; far?: boolean | undefined }) {
  const isSelf = row.id === answer.function.id;
  return (
    <tr>
      {shownEvents.value.map((name) => (
        <td class="num" key={name}>
          <Cost
            costs={row.cost}
            event={name}
            whole={far ? totalOf(name) : (answer.cycle ?? answer).inclusive[name]}
            estimate={row.cost_estimated}
            bound={row.cost_is_upper_bound}
            inner={row.inner || isSelf}
          />
        </td>
      ))}
      <td class="num">{callCount(row)}</td>
      {far ? <td class="num">{row.distance}</td> : null}
      <td>
        <Name row={row} />
        {row.inner && !isSelf ? (
          <span class="tag" title="inside of a cycle">
            cycle
          </span>
        ) : null}
        {isSelf ? <span class="tag">itself</span> : null}
        {row.via ? <span class="at">via {visible(row.via)}</span> : null}
      </td>
    </tr>
  );
}

/**
 * A list of callers or callees. Direct ones have the cost of their calls in shares of the selected function, or of the cycle
 * that it is in; indirect ones their inclusive cost, in shares of the total.
 */
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
  return (
    <section class="neighbours" aria-label={title}>
      <h3>
        {title} <span class="count">{grouped(list.all)}</span>
      </h3>
      {list.rows.length === 0 ? (
        <p class="faint">none</p>
      ) : (
        <Names.Provider value={list.rows.map((row) => row.name)}>
          <table>
            <thead>
              <tr>
                {shownEvents.value.map((name) => (
                  <th
                    key={name}
                    scope="col"
                    class="num"
                    title={
                      far
                        ? "The inclusive cost of this function; percentages are of the total"
                        : `Percentages are of the inclusive cost of ${answer.cycle ? "the whole cycle" : visible(answer.function.name)}`
                    }
                  >
                    {shownEvents.value.length > 1 ? name : far ? "Inclusive" : "Cost"}, % of{" "}
                    {far ? "total" : answer.cycle ? "cycle" : "selected"}
                  </th>
                ))}
                <NumberHead>Calls</NumberHead>
                {far ? <NumberHead>Distance</NumberHead> : null}
                <th scope="col">Function</th>
              </tr>
            </thead>
            <tbody>
              {list.rows.map((row) => (
                <NeighbourRow
                  key={`${row.id}-${row.distance}-${row.via}`}
                  row={row}
                  answer={answer}
                  far={far}
                />
              ))}
            </tbody>
          </table>
        </Names.Provider>
      )}
      <Hidden shown={list.rows.length} all={list.all} what={title.toLowerCase()} />
    </section>
  );
}

/** Inclusive cost, self cost and calls of the function. */
export function Facts({ answer }: { answer: Show }) {
  return (
    <dl>
      {shownEvents.value.map((name) => (
        <Fact key={name} name={name} answer={answer} />
      ))}
      <dt>Calls</dt>
      <dd>
        {callCount(answer)}
        {answer.is_recursive ? <span class="tag">recursive</span> : null}
        {answer.function.cycle != null ? <span class="tag">cycle {answer.function.cycle}</span> : null}
        {answer.folded > 1 ? <span class="tag">{grouped(answer.folded)} functions folded</span> : null}
      </dd>
    </dl>
  );
}

function Fact({ name, answer }: { name: string; answer: Show }) {
  const unit = shownEvents.value.length > 1 ? ` ${name}` : "";
  // The facts are of the function: their percentages are of the total, even if others are relative to it.
  const whole = totalOf(name);
  return (
    <>
      <dt>Inclusive{unit}</dt>
      <dd>
        <Cost
          costs={answer.inclusive}
          event={name}
          whole={whole}
          estimate={answer.inclusive_estimated}
          bound={answer.inclusive_is_upper_bound}
        />
      </dd>
      <dt>Self{unit}</dt>
      <dd>
        <Cost costs={answer.self} event={name} whole={whole} estimate={answer.self_estimated} />
      </dd>
    </>
  );
}

/** Both sums, where what callers spend differs from what the function and its callees cost. */
export function Sums({ answer }: { answer: Show }) {
  const name = eventName.value;
  const above = answer.by_callers?.[name];
  const below = answer.by_callees?.[name];
  if (above === undefined || below === undefined || String(above) === String(below)) return null;
  return (
    <p class="note">
      The calls of its callers cost {grouped(above)}; its self cost and the calls to its callees sum up to{" "}
      {grouped(below)} {name}. The profile has both numbers.
    </p>
  );
}

/** The members of a cycle, its entries, and the call that breaks it best. */
export function CycleFacts({ cycle }: { cycle: Cycle }) {
  return (
    <section>
      <h3>
        Cycle {cycle.number} <span class="count">{grouped(cycle.members.all)} functions</span>
      </h3>
      <p class="dim">
        Its members call each other. The whole cycle costs{" "}
        <Cost costs={cycle.inclusive} estimate={cycle.estimated} />; the inclusive cost of a member has no
        calls within the cycle.
      </p>
      {cycle.breaker ? (
        <p>
          <button onClick={() => cutCalls(cycle.breaker!.caller.name, cycle.breaker!.callee.name)}>
            Cut {visible(cycle.breaker.caller.name)} → {visible(cycle.breaker.callee.name)}
          </button>{" "}
          <span class="dim">leaves {grouped(cycle.breaker.members_left)} in cycles</span>
        </p>
      ) : null}
      <table>
        <Heads numbers={["Self"]} texts={["Member"]} />
        <tbody>
          {cycle.members.rows.map((row) => (
            <tr key={row.id}>
              <td class="num">
                <Cost costs={row.self} />
              </td>
              <td>
                <Name row={row} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Hidden shown={cycle.members.rows.length} all={cycle.members.all} what="members" />
      {cycle.entries.rows.length > 0 ? <h3>Calls into the cycle</h3> : null}
      <table>
        <tbody>
          {cycle.entries.rows.map((row) => (
            <tr key={`${row.caller.id} ${row.callee.id}`}>
              <td class="num">
                <Cost costs={row.cost} />
              </td>
              <td>
                <Name row={row.caller} bare /> → <Name row={row.callee} bare />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Actions({ answer }: { answer: Show }) {
  const row = answer.function;
  return (
    <>
      {twin.value === "" ? null : (
        <p class="note">
          Others have its name, file and object: Focus and Merge into callers take them, too.
        </p>
      )}
      <p class="actions">
        <button onClick={() => go({ view: "source", source: "" })}>Source</button>
        <button onClick={() => go({ view: "callers" })}>Callers</button>
        <button onClick={() => go({ view: "sandwich" })}>Sandwich</button>
        <button onClick={() => go({ view: "graph", around: true })}>Graph</button>
        <button onClick={() => startAt(row, "flame")}>Flame</button>
        <button
          title="Only stacks with it; other cost leaves the total"
          onClick={() => go({ focus: exactly(row.name) })}
        >
          Focus
        </button>
        <button title="Its cost counts for its callers" onClick={() => hideFunction(row.name)}>
          Merge into callers
        </button>
      </p>
    </>
  );
}

/** The functions to look at first. */
function Suggestions() {
  const { answer } = useAnswer({
    kind: "functions",
    group: "function",
    sort: "self_cost",
    ascending: false,
    filter: "",
    within: null,
    start: 0,
    count: 15,
  });
  if (!answer) return null;
  return (
    <section>
      <h3>Highest self cost</h3>
      <Names.Provider value={answer.rows.map((row) => row.name)}>
        <table>
          <tbody>
            {answer.rows.map((row) => (
              <tr key={row.id}>
                <td class="num">
                  <Cost costs={row.self} estimate={row.self_estimated} />
                </td>
                <td>
                  <Name row={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Names.Provider>
    </section>
  );
}

/** Facts, callers and callees of the selection. */
export function Inspector() {
  const answer = selection.value;
  if (isComparing.value && place.value.name !== "") {
    return (
      <aside class="inspector" aria-label="Selection" tabIndex={0}>
        <Splitter />
        <ChangedSelection />
      </aside>
    );
  }
  if (selected.value === null && !answer) {
    return (
      <aside class="inspector idle" aria-label="Selection" tabIndex={0}>
        <Splitter />
        <p class="hint">
          {isMissing.value && summary.value !== null
            ? `${visible(place.value.name)} is not in this profile.`
            : "Select a function: its callers, callees and facts show here."}
        </p>
        <Suggestions />
      </aside>
    );
  }
  return (
    <aside class="inspector" aria-label="Selection" tabIndex={0}>
      <Splitter />
      <Status answer={answer} error={selectionError.value}>
        {answer ? (
          <>
            <h2>{visible(answer.function.name)}</h2>
            <p class="where">
              {visible(answer.function.file)}
              <br /> {visible(answer.function.object)}
            </p>
            <Facts answer={answer} />
            <Sums answer={answer} />
            <Actions answer={answer} />
            <p class="base">
              {answer.inclusive_estimated ? "~" : ""}
              {percentOf(answer.inclusive[eventName.value], totalOf(eventName.value))} of the total{" "}
              {eventName.value} passes here.
            </p>
            {typeof answer.function.id === "number" ? <EventTypes id={answer.function.id} /> : null}
            <Neighbours title="Callers" list={answer.callers} answer={answer} />
            <Neighbours title="Callees" list={answer.callees} answer={answer} />
            {answer.cycle ? <CycleFacts cycle={answer.cycle} /> : null}
          </>
        ) : null}
      </Status>
    </aside>
  );
}
