import { Heads } from "../parts/rows";
import { useRef, useState } from "preact/hooks";
import type { Exact, Parts, PartSummary } from "../answers";
import { base, grouped, percentOf, share, sum, visible } from "../format";
import { go, place } from "../place";
import { eventName, hover, summary } from "../state";
import { AllCallsNote, Empty, Hidden, Status, useAnswer } from "../parts/answer";
import { Cost } from "../parts/cost";
import { Export } from "../parts/save";

const STRIP_HEIGHT = 64;
const MIN_BAR = 3;

/** Numbers as ranges: 1-3,7. */
function ranges(numbers: number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const texts: string[] = [];
  for (let at = 0; at < sorted.length;) {
    let end = at;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    texts.push(end === at ? String(sorted[at]) : `${sorted[at]}-${sorted[end]}`);
    at = end + 1;
  }
  return texts.join(",");
}

/** The numbers of one kind that tell the chosen parts apart from the others; "" if all have the chosen ones. */
function chosenNumbers(
  all: PartSummary[],
  chosen: PartSummary[],
  number: (part: PartSummary) => number | null,
): string {
  const of = (parts: PartSummary[]) => [...new Set(parts.map(number).filter((one) => one !== null))];
  const wanted = of(chosen);
  return wanted.length === of(all).length ? "" : ranges(wanted);
}

/**
 * Selects parts for all views. The scope has numbers of parts, threads and processes: parts that all chosen numbers fit are
 * selected too, and the answer shows it.
 */
function choose(all: PartSummary[], chosen: PartSummary[]): void {
  if (chosen.length === 0 || chosen.length === all.length) {
    go({ parts: "", threads: "", processes: "" });
    return;
  }
  go({
    parts: chosenNumbers(all, chosen, (part) => part.part),
    threads: chosenNumbers(all, chosen, (part) => part.thread),
    processes: chosenNumbers(all, chosen, (part) => part.process),
  });
}

function titleOf(part: PartSummary): string {
  const names = [
    part.process !== null ? `process ${part.process}` : "",
    part.thread !== null ? `thread ${part.thread}` : "",
    part.part !== null ? `part ${part.part}` : "",
  ].filter((name) => name !== "");
  return names.join(", ") || visible(part.file);
}

/** The cost of all parts, selected or not: the number that is 100% in this view. */
function wholeOfParts(all: PartSummary[]): Exact {
  return sum(all.map((part) => part.self[eventName.value]));
}

function sayPart(part: PartSummary, whole: Exact): string {
  const cost = part.self[eventName.value];
  const texts = [
    `${titleOf(part)}: ${grouped(cost)} ${eventName.value} (${percentOf(cost, whole)})`,
    part.trigger ? `written because of ${visible(part.trigger)}` : "",
    part.time_range ? `time ${visible(part.time_range)}` : "",
    part.is_selected ? "" : "not selected",
  ];
  return texts.filter((text) => text !== "").join("; ");
}

export function PartsView() {
  const { answer, error } = useAnswer({ kind: "parts" });
  return (
    <Status answer={answer} error={error}>
      {answer ? <PartList answer={answer} /> : null}
    </Status>
  );
}

function PartList({ answer }: { answer: Parts }) {
  const has = summary.value?.has.several_parts ?? false;
  const { parts, threads, processes } = place.value;
  const chosen = answer.parts.filter((part) => part.is_selected).length;
  const cells = () => [
    ["process", "thread", "part", `self ${eventName.value}`, "trigger", "time range", "file", "selected"],
    ...answer.parts.map((part) => [
      part.process,
      part.thread,
      part.part,
      part.self[eventName.value],
      part.trigger,
      part.time_range,
      part.file,
      part.is_selected ? "yes" : "no",
    ]),
  ];
  return (
    <>
      <AllCallsNote />
      <div class="tools">
        <h1>Parts, in the order of dumps</h1>
        <span class="dim" role="status">
          {grouped(chosen)} of {grouped(answer.all)} selected
        </span>
        {parts || threads || processes ? (
          <button onClick={() => go({ parts: "", threads: "", processes: "" })}>Select all parts</button>
        ) : null}
        <Export name="parts" json={answer} rows={cells} />
      </div>
      {has ? (
        <>
          <Strip all={answer.parts} />
          <p class="hint">
            All bars have one scale. A click selects a part for all views, Ctrl and click adds one, a drag
            selects a range.
          </p>
        </>
      ) : (
        <Empty title="One part">
          The whole profile is one dump. Callgrind writes more with --dump-every-bb=N, --dump-before=FUNCTION
          or --separate-threads=yes.
        </Empty>
      )}
      <PartTable answer={answer} />
      <Hidden shown={answer.parts.length} all={answer.all} what="parts" />
    </>
  );
}

/** Threads of processes in the order of their numbers, each with its parts. */
function rowsOf(all: PartSummary[]): [string, PartSummary[]][] {
  const rows = new Map<string, PartSummary[]>();
  const hasProcesses = new Set(all.map((part) => part.process)).size > 1;
  const byNumber = [...all].sort(
    (a, b) =>
      Number(a.process ?? 0) - Number(b.process ?? 0) || Number(a.thread ?? 0) - Number(b.thread ?? 0),
  );
  for (const part of byNumber) {
    const process = part.process === null || !hasProcesses ? "" : `process ${part.process}`;
    const thread = part.thread === null ? "" : `thread ${part.thread}`;
    const name = [process, thread].filter((text) => text !== "").join(", ") || "program";
    rows.set(name, [...(rows.get(name) ?? []), part]);
  }
  return [...rows];
}

function Strip({ all }: { all: PartSummary[] }) {
  const [drag, setDrag] = useState<{ from: PartSummary; to: PartSummary } | null>(null);
  const moved = useRef(false);
  const whole = wholeOfParts(all);
  const highest = all.reduce((most, part) => Math.max(most, Number(part.self[eventName.value] ?? 0)), 0);
  const range = (row: PartSummary[]) => {
    if (!drag) return [];
    const [a, b] = [row.indexOf(drag.from), row.indexOf(drag.to)];
    return a < 0 || b < 0 ? [] : row.slice(Math.min(a, b), Math.max(a, b) + 1);
  };
  const pick = (part: PartSummary, isAdding: boolean) => {
    if (!isAdding) return choose(all, [part]);
    const isNarrowed = all.some((other) => !other.is_selected);
    const current = isNarrowed ? all.filter((other) => other.is_selected) : [];
    const next = current.includes(part) ? current.filter((other) => other !== part) : [...current, part];
    choose(all, next);
  };
  return (
    <div
      class="strips"
      onPointerLeave={() => {
        setDrag(null);
        hover.value = "";
      }}
    >
      {rowsOf(all).map(([name, row]) => (
        <div class="strip" key={name} role="group" aria-label={visible(name)}>
          <span class="strip-name">{visible(name)}</span>
          {row.map((part, index) => (
            <PartBar
              key={index}
              part={part}
              say={sayPart(part, whole)}
              height={share(part.self[eventName.value], highest)}
              isInRange={range(row).includes(part)}
              onDown={() => {
                moved.current = false;
                setDrag({ from: part, to: part });
              }}
              onOver={() => {
                hover.value = sayPart(part, whole);
                if (!drag) return;
                moved.current = moved.current || part !== drag.from;
                setDrag({ from: drag.from, to: part });
              }}
              onUp={() => {
                if (drag && moved.current) choose(all, range(row));
                setDrag(null);
              }}
              onPick={(isAdding) => {
                if (!moved.current) pick(part, isAdding);
              }}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

function PartBar({
  part,
  say,
  height,
  isInRange,
  onDown,
  onOver,
  onUp,
  onPick,
}: {
  part: PartSummary;
  say: string;
  height: number;
  isInRange: boolean;
  onDown: () => void;
  onOver: () => void;
  onUp: () => void;
  onPick: (isAdding: boolean) => void;
}) {
  const set = (element: HTMLSpanElement | null) => {
    if (element) element.style.height = `${Math.max(MIN_BAR, height * STRIP_HEIGHT)}px`;
  };
  return (
    <button
      class={`part-bar${isInRange ? " in-range" : ""}`}
      aria-pressed={part.is_selected}
      aria-label={say}
      onPointerDown={onDown}
      onPointerEnter={onOver}
      onPointerUp={onUp}
      onFocus={onOver}
      onClick={(e) => onPick(e.ctrlKey || e.metaKey || e.shiftKey)}
    >
      <span ref={set} />
    </button>
  );
}

function PartTable({ answer }: { answer: Parts }) {
  const whole = wholeOfParts(answer.parts);
  return (
    <table>
      <Heads numbers={["Self", "Part", "Thread", "Process"]} texts={["Trigger", "File"]} />
      <tbody>
        {answer.parts.map((part, index) => (
          <tr key={index} class={part.is_selected ? "" : "out"}>
            <td class="num">
              <Cost costs={part.self} whole={whole} />
            </td>
            <td class="num">
              <button class="plain" title="Only this part" onClick={() => choose(answer.parts, [part])}>
                {grouped(part.part)}
              </button>
            </td>
            <td class="num">{part.thread ?? "–"}</td>
            <td class="num">{part.process ?? "–"}</td>
            <td>
              {visible(part.trigger ?? "")}{" "}
              {part.time_range ? <span class="at">{visible(part.time_range)}</span> : null}
            </td>
            <td title={visible(part.file)}>{base(part.file)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
