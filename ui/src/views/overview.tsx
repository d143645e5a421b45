// The first screen: what was measured, how much it is, where the cost is, where to go next.
import { Heads, NumberHead } from "../parts/rows";
import type { Overview as Answer, PathStep, Share } from "../answers";
import { callCount, grouped, percentOf, visible } from "../format";
import { go } from "../place";
import { event, eventName, isComparing, select, summary, total } from "../state";
import { Hidden, Status, useAnswer } from "../parts/answer";
import { Cost, Name } from "../parts/cost";
import { Export, type Cell } from "../parts/save";
import { Names } from "../parts/room";

const MAX_ROWS = 8;

export function Overview() {
  const { answer, error } = useAnswer({ kind: "overview", limit: MAX_ROWS });
  // Which of the functions of an object or file are estimates is not told.
  const isEstimate = answer?.notes.some((note) => note.startsWith("~")) ?? false;
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <Headline answer={answer} />
          <div class="corner">
            <Export name="overview" json={answer} rows={() => cells(answer)} />
          </div>
          <Verdict answer={answer} />
          <Trust answer={answer} />
          <div class="cards">
            <Hottest answer={answer} />
            <Path answer={answer} />
            <Shares title="Objects" rows={answer.shares.objects} group="object" isEstimate={isEstimate} />
            <Shares title="Files" rows={answer.shares.files} group="file" isEstimate={isEstimate} />
            <Shares title="Threads" rows={answer.shares.threads} group={null} />
            <Shares title="Parts" rows={answer.shares.parts} group={null} />
          </div>
        </>
      ) : null}
    </Status>
  );
}

/** The most expensive functions, then the path. */
function cells(answer: Answer): Cell[][] {
  const name = eventName.value;
  const line = (list: string, row: Answer["hottest"][number] | PathStep) => [
    list,
    row.self[name],
    row.inclusive[name],
    row.calls,
    row.name,
    row.file,
    row.object,
  ];
  return [
    ["list", `self ${name}`, `inclusive ${name}`, "calls", "name", "file", "object"],
    ...answer.hottest.map((row) => line("self cost", row)),
    ...(answer.path?.steps ?? []).map((row) => line("path", row)),
  ];
}

function Headline({ answer }: { answer: Answer }) {
  const unit = event.value?.unit ?? "";
  const meaning = event.value?.long_name ?? "";
  return (
    <header class="headline">
      <h1>{visible(answer.title)}</h1>
      <p>
        <span class="big">{grouped(total.value)}</span>{" "}
        <b>
          {eventName.value}
          {unit ? ` (${visible(unit)})` : ""}
        </b>
        {meaning ? <span>, {visible(meaning)}</span> : null}
        <br />
        <span class="dim">
          in {grouped(answer.function_count)} functions
          {answer.parts > 1 ? `, ${grouped(answer.selected_parts)} of ${grouped(answer.parts)} parts` : ""}
          {answer.creator ? `, written by ${visible(answer.creator)}` : ""}. 100% is this total.
        </span>
      </p>
    </header>
  );
}

/** The first step of the path that leads to no most expensive callee any more: where the cost is. */
function Verdict({ answer }: { answer: Answer }) {
  const [first] = answer.hottest;
  if (!first || isComparing.value) return null;
  const name = eventName.value;
  const main = answer.path?.steps.find((step) => !step.is_start_up);
  return (
    <p class="verdict">
      <button class="name" onClick={() => select(first, "source")}>
        <span class="fn">{visible(first.name)}</span>
      </button>{" "}
      has the highest self cost:{" "}
      <b>
        {first.self_estimated ? "~" : ""}
        {percentOf(first.self[name], total.value)}
      </b>{" "}
      of all {name}
      {first.calls !== null && Number(first.calls) > 0
        ? `, in ${callCount(first)} ${Number(first.calls) === 1 ? "call" : "calls"}`
        : ""}
      .
      {main && main.id !== first.id ? (
        <>
          {" "}
          <button class="name" onClick={() => select(main, "callers")}>
            <span class="fn">{visible(main.name)}</span>
          </button>{" "}
          with everything it calls is{" "}
          <b>
            {main.is_estimate ? "~" : ""}
            {percentOf(main.inclusive[name], total.value)}
          </b>
          .
        </>
      ) : null}
    </p>
  );
}

/** Reasons to trust the numbers less, and findings. */
function Trust({ answer }: { answer: Answer }) {
  const base = summary.value?.base;
  return (
    <>
      {answer.damage.map((row) => (
        <p class="warn" key={row.text}>
          {visible(row.text)}
        </p>
      ))}
      {answer.notes.map((note) => (
        <p class="note" key={note}>
          {visible(note)}
        </p>
      ))}
      {summary.value?.has.calls === false ? (
        <p class="note">
          The profile has no calls, so inclusive costs equal self costs. For calls, record with gristmill
          record or valgrind --tool=callgrind.
        </p>
      ) : null}
      {base && !isComparing.value ? (
        <p>
          <button onClick={() => go({ view: "compare" })}>
            Changes since the base, {base.files.map(visible).join(", ")}
          </button>
        </p>
      ) : null}
      {answer.findings > 0 ? (
        <p>
          <button onClick={() => go({ view: "findings" })}>
            {grouped(answer.findings)} {answer.findings === 1 ? "finding" : "findings"} about the file
          </button>
        </p>
      ) : null}
    </>
  );
}

function Hottest({ answer }: { answer: Answer }) {
  const hasCounts = summary.value?.has.call_counts ?? true;
  return (
    <section>
      <h3>Highest self cost</h3>
      <Names.Provider value={answer.hottest.map((row) => row.name)}>
        <table>
          <thead>
            <tr>
              <NumberHead>Self</NumberHead>
              {hasCounts ? <NumberHead>Calls</NumberHead> : null}
              <th scope="col">Function</th>
            </tr>
          </thead>
          <tbody>
            {answer.hottest.map((row) => (
              <tr key={row.id}>
                <td class="num">
                  <Cost costs={row.self} estimate={row.self_estimated} />
                </td>
                {hasCounts ? <td class="num">{callCount(row)}</td> : null}
                <td>
                  <Name row={row} view="callers" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Names.Provider>
      <Hidden shown={answer.hottest.length} all={answer.function_count} what="functions" />
      <p class="actions">
        <button onClick={() => go({ view: "functions" })}>All functions</button>
        <button onClick={() => go({ view: "treemap" })}>Treemap</button>
      </p>
    </section>
  );
}

/** The most expensive path. Steps of start-up code are one row: they tell nothing about the program. */
function Path({ answer }: { answer: Answer }) {
  if (!answer.path) return null;
  const { steps, branches } = answer.path;
  const startUp = steps.filter((step) => step.is_start_up).length;
  const shown = startUp === steps.length ? steps : steps.filter((step) => !step.is_start_up);
  return (
    <section>
      <h3>Most expensive path</h3>
      <Names.Provider value={shown.map((row) => row.name)}>
        <table>
          <Heads numbers={["Inclusive"]} texts={["Function"]} />
          <tbody>
            {shown.length < steps.length ? (
              <tr>
                <td />
                <td class="dim">
                  {grouped(startUp)} {startUp === 1 ? "function" : "functions"} of start-up code
                </td>
              </tr>
            ) : null}
            {shown.map((row, index) => (
              <Step key={index} row={row} level={index} />
            ))}
            {branches.map((row, index) => (
              <Step
                key={`branch ${row.id}`}
                row={row}
                level={shown.length}
                isBranch={index + 1 < branches.length}
              />
            ))}
          </tbody>
        </table>
      </Names.Provider>
      <p class="actions">
        <button onClick={() => go({ view: "tree" })}>Call tree</button>
        <button onClick={() => go({ view: "flame" })}>Flame graph</button>
        <button onClick={() => go({ view: "graph" })}>Call graph</button>
      </p>
    </section>
  );
}

function Step({ row, level, isBranch }: { row: PathStep; level: number; isBranch?: boolean }) {
  const members = row.members > 0 ? <span class="tag">{grouped(row.members)} members</span> : null;
  return (
    <tr>
      <td class="num">
        <Cost costs={row.inclusive} estimate={row.is_estimate} />
      </td>
      <td>
        <span class="step" aria-hidden="true">
          {"\u2002".repeat(Math.min(level, 12))}
          {isBranch ? "├ " : level > 0 ? "└ " : ""}
        </span>
        <Name row={row} view="callers" />
        {members}
      </td>
    </tr>
  );
}

/** The name of a group, as in lists of groups. */
function named(name: string): string {
  return visible(name || "???");
}

function Shares({
  title,
  rows,
  group,
  isEstimate,
}: {
  title: string;
  rows: Share[];
  group: "object" | "file" | null;
  isEstimate?: boolean;
}) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h3>{title}, by self cost</h3>
      <table>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row) => (
            <tr key={row.name}>
              <td class="num">
                <Cost costs={row.self} estimate={isEstimate} />
              </td>
              <td>
                {group ? (
                  <button
                    class="name"
                    title={visible(row.name)}
                    onClick={() =>
                      go({ view: "functions", within: `${group}:${row.name}`, group: "function", filter: "" })
                    }
                  >
                    {named(row.name)}
                  </button>
                ) : (
                  named(row.name)
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Hidden shown={Math.min(MAX_ROWS, rows.length)} all={rows.length} what={title.toLowerCase()} />
    </section>
  );
}
