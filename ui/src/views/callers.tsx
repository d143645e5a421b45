import { Heads } from "../parts/rows";
import { useEffect } from "preact/hooks";
import type { ChangedCall, DiffFunction, List, Neighbour, Show } from "../answers";
import { grouped, visible } from "../format";
import { changedFunction, eventName, isComparing, joined, list, select, selected, summary } from "../state";
import { NeedFunction, Status, useAnswer } from "../parts/answer";
import { ChangeCost, ChangeNumber, Cost, sidesOf } from "../parts/cost";
import { CycleFacts, Facts, Neighbours, Sums } from "../parts/inspector";
import { ChangedFactList } from "../parts/changed-selection";
import { EventTypes } from "../parts/event-types";
import { Export } from "../parts/save";
import { NoCalls } from "./graph-tools";

const MAX_DISTANCE = 8;
const MAX_ROWS = 100;

export function Callers() {
  return isComparing.value ? <ChangedCallers /> : <PlainCallers />;
}

function cells(answer: Show) {
  const event = eventName.value;
  const rows = (side: string, all: List<Neighbour>) =>
    all.rows.map((row) => [side, row.distance, row.cost[event], row.calls, row.name, row.file, row.object]);
  return [
    ["side", "distance", `cost ${event}`, "calls", "name", "file", "object"],
    ...rows("caller", answer.callers),
    ...rows("callee", answer.callees),
    ...rows("caller", answer.far_callers),
    ...rows("callee", answer.far_callees),
  ];
}

function PlainCallers() {
  const id = selected.value;
  const hasFunction = id !== null && id !== undefined;
  const { answer, error } = useAnswer(
    hasFunction ? { kind: "function", function: id, depth: MAX_DISTANCE, limit: MAX_ROWS } : null,
  );
  useEffect(() => {
    if (answer) list.value = [...answer.callers.rows, ...answer.callees.rows];
  }, [answer]);
  if (!hasFunction) return <NeedFunction what="all its callers and callees, with their distance" />;
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <div class="tools">
            <h1>{visible(answer.function.name)}</h1>
            <Export name="callers-callees" json={answer} rows={() => cells(answer)} />
          </div>
          <p class="where">
            {visible(answer.function.file)} · {visible(answer.function.object)}
          </p>
          <Facts answer={answer} />
          <Sums answer={answer} />
          {typeof answer.function.id === "number" ? <EventTypes id={answer.function.id} /> : null}
          {summary.value?.has.calls === false ? (
            <NoCalls />
          ) : (
            <div class="cards">
              <Neighbours title="Callers" list={answer.callers} answer={answer} />
              <Neighbours title="Callees" list={answer.callees} answer={answer} />
              <Neighbours title="Indirect callers" list={answer.far_callers} answer={answer} far />
              <Neighbours title="Indirect callees" list={answer.far_callees} answer={answer} far />
              {answer.by_part && answer.by_part.all > 1 ? <ByPart answer={answer} /> : null}
              {answer.cycle ? <CycleFacts cycle={answer.cycle} /> : null}
            </div>
          )}
        </>
      ) : null}
    </Status>
  );
}

function ByPart({ answer }: { answer: Show }) {
  return (
    <section>
      <h3>By part</h3>
      <table>
        <Heads numbers={["Self", "Inclusive"]} texts={["Part"]} />
        <tbody>
          {answer.by_part.rows.map((row, index) => (
            <tr key={index}>
              <td class="num">
                <Cost costs={row.self} whole={answer.self[eventName.value]} />
              </td>
              <td class="num">
                <Cost costs={row.inclusive} whole={answer.inclusive[eventName.value]} />
              </td>
              <td>{visible(row.name)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ChangedCallers() {
  const { answer, error } = useAnswer(changedFunction.value);
  if (changedFunction.value === null) return <NeedFunction what="the changes of its callers and callees" />;
  return (
    <Status answer={answer} error={error}>
      {answer ? <ChangedFacts answer={answer} /> : null}
    </Status>
  );
}

function ChangedFacts({ answer }: { answer: DiffFunction }) {
  const row = answer.function;
  return (
    <>
      <h1>{visible(row.name)}</h1>
      <p class="where">
        {visible(row.file)}{" "}
        {row.base_name && row.base_name !== row.name ? `· before: ${visible(row.base_name)}` : ""}
      </p>
      <ChangedFactList answer={answer} />
      <div class="cards">
        <ChangedCalls title="Callers" rows={answer.callers} />
        <ChangedCalls title="Callees" rows={answer.callees} />
      </div>
    </>
  );
}

export function ChangedCalls({ title, rows }: { title: string; rows: ChangedCall[] }) {
  return (
    <section>
      <h3>
        {title} <span class="count">{grouped(rows.length)}</span>
      </h3>
      <table>
        <Heads numbers={["Before", "After", "Change", "of calls"]} texts={["Function"]} />
        <tbody>
          {rows.map((row) => {
            const change = sidesOf(row.inclusive[eventName.value]);
            return (
              <tr key={row.function.id}>
                <td class="num">{grouped(change?.base)}</td>
                <td class="num">{grouped(change?.new)}</td>
                <td class="num">
                  <ChangeCost changes={row.inclusive} />
                </td>
                <td class="num">
                  <ChangeNumber change={sidesOf(row.calls)} isCount />
                </td>
                <td>
                  <button class="name fn" onClick={() => select(joined(row.function))}>
                    {visible(row.function.name)}
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
