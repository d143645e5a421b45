// The comparison as a whole: totals, causes in sentences, what was done to join functions.
import type { Cause, Diff } from "../answers";
import { grouped, percentOf, share, signed, visible } from "../format";
import { go, place } from "../place";
import { ask, eventName, joined, MAX_ANSWER_ROWS, scope, select, summary } from "../state";
import { Empty, Status, useAnswer } from "../parts/answer";
import { Bar, ChangeNumber, direction, sidesOf } from "../parts/cost";
import { Export, mapped } from "../parts/save";
import { cells, changeSort, ChangeTable } from "./changed-functions";

const MAX_CAUSES = 12;
const MAX_ROWS = 200;

export function CompareView() {
  const hasBase = summary.value?.base != null;
  const { group, filter } = place.value;
  const question = { kind: "changes" as const, group, sort: changeSort(), filter };
  const { answer, error } = useAnswer(hasBase ? { ...question, limit: MAX_ROWS } : null);
  const whole = () =>
    answer!.functions.length < MAX_ROWS
      ? answer!
      : ask({ ...question, limit: MAX_ANSWER_ROWS }, new AbortController().signal, scope.value, false);
  if (!hasBase) {
    return (
      <Empty title="Nothing to compare with">
        Start gristmill view with --base FILE to compare with an earlier profile.
      </Empty>
    );
  }
  return (
    <Status answer={answer} error={error}>
      {answer ? <Comparison answer={answer} whole={whole} /> : null}
    </Status>
  );
}

/** The title of the comparison: swapped, it goes back from the new profile to the base. */
function title(): string {
  return place.value.swapped ? "Changes from the new profile back to the base" : "Changes since the base";
}

function Comparison({ answer, whole }: { answer: Diff; whole: () => Diff | Promise<Diff> }) {
  const total = sidesOf(answer.totals[eventName.value]);
  return (
    <>
      <div class="tools">
        <h1>{title()}</h1>
        <Export name="comparison" json={whole} rows={() => mapped(whole(), (all) => cells(all.functions))} />
      </div>
      {total ? (
        <p class="totals">
          <span class="big">
            <ChangeNumber change={total} />
          </span>
          <span class="dim">
            {eventName.value}: {grouped(total.base)} → {grouped(total.new)}
          </span>
          <button onClick={() => go({ swapped: !place.value.swapped })} title="Swap the sides (x)">
            ⇄ swap
          </button>
          <button onClick={() => go({ compare: true, view: "functions", sides: "worse" })}>Worse</button>
          <button onClick={() => go({ compare: true, view: "functions", sides: "better" })}>Better</button>
          <button onClick={() => go({ compare: true, view: "flame" })}>Flame graph</button>
          <button onClick={() => go({ compare: true, view: "tree" })}>Call tree</button>
        </p>
      ) : null}
      <Doubts answer={answer} />
      <Causes answer={answer} />
      <h3>Greatest changes</h3>
      <ChangeTable rows={answer.functions} />
      <Joined answer={answer} />
    </>
  );
}

/** The reasons why the sides may not be comparable. */
function Doubts({ answer }: { answer: Diff }) {
  const doubts = [
    ...answer.environment.map((row) => row.text),
    ...(summary.value?.base?.doubts ?? []),
    ...answer.damage.map((row) => row.text),
  ];
  return (
    <>
      {[...new Set(doubts)].map((text) => (
        <p class="warn" key={text}>
          {visible(text)}
        </p>
      ))}
    </>
  );
}

function Causes({ answer }: { answer: Diff }) {
  if (answer.causes.length === 0) return null;
  const total = answer.totals[eventName.value]?.base ?? 0;
  const hidden = answer.causes.length - MAX_CAUSES;
  return (
    <section>
      <h3>Why (% of the base)</h3>
      {place.value.swapped ? (
        <p class="note">These sentences are about the way from the base to the new profile, not swapped.</p>
      ) : null}
      <table class="causes">
        <tbody>
          {answer.causes.slice(0, MAX_CAUSES).map((cause) => (
            <CauseRow key={`${cause.function.id} ${cause.text}`} cause={cause} total={total} />
          ))}
        </tbody>
      </table>
      {hidden > 0 ? <p class="hidden">{grouped(hidden)} smaller causes are not shown.</p> : null}
    </section>
  );
}

function CauseRow({ cause, total }: { cause: Cause; total: number | string }) {
  const way = direction({ base: 0, new: 0, change: cause.effect });
  return (
    <tr>
      <td class="num">
        <span class={`cost change ${way}`}>
          <Bar fraction={Math.abs(share(cause.effect, total))} kind={way} />
          <span class="number">
            {way === "worse" ? "▲" : "▼"} {signed(cause.effect)}
          </span>
          <span class="share">{percentOf(cause.effect, total)}</span>
        </span>
      </td>
      <td>
        <button
          class="sentence"
          title={`${visible(cause.text)}\n\nShow the function`}
          onClick={() => select(joined(cause.function), "callers")}
        >
          {visible(cause.text)}
        </button>
        {cause.noise ? <span class="tag">within the spread of runs</span> : null}
      </td>
    </tr>
  );
}

/** The counts of functions on each side, and what was folded to make names equal. */
function Joined({ answer }: { answer: Diff }) {
  return (
    <p class="dim joined">
      {grouped(answer.on_both)} functions are on both sides, {grouped(answer.new)} are new,{" "}
      {grouped(answer.vanished)} are gone.
      {answer.joined.map((rule) => (
        <span key={rule.rule}>
          {" "}
          {grouped(rule.functions)}{" "}
          {rule.rule === "rename" ? "may be renamed" : `joined by the rule ${visible(rule.rule)}`}
          {rule.example_base && rule.example_new
            ? ` (${visible(rule.example_base)} = ${visible(rule.example_new)})`
            : ""}
          .
        </span>
      ))}
      {answer.directories.map((row) => (
        <span key={row.base}>
          {" "}
          {visible(row.base)} is {visible(row.new)} now.
        </span>
      ))}
    </p>
  );
}
