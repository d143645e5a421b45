import { useEffect, useMemo, useState } from "preact/hooks";
import type { DiffFunction, Source, SourceCall, SourceLine } from "../answers";
import { callCount, grouped, percentOf, share, visible } from "../format";
import { go, place } from "../place";
import {
  changedFunction,
  eventName,
  isComparing,
  joined,
  select,
  selectById,
  selected,
  shownEvents,
  whole,
} from "../state";
import { AllCallsNote, Empty, NeedFunction, Status, useAnswer } from "../parts/answer";
import { heatToken, LINE_STEPS } from "../parts/colours";
import { ChangeCost, ChangeNumber, Cost, sidesOf } from "../parts/cost";
import { LaneCell, lanesOf, sayJump, type Jump, type Lanes } from "../parts/lanes";
import { CodeTable } from "../parts/code-table";
import { Heads, NumberHead, Region, useRows } from "../parts/rows";
import { FolderChoice, FolderNote, useLocalText, withText } from "../parts/folder";
import { Export, type Cell } from "../parts/save";

const ROW_HEIGHT = 20;
/** Lines without cost that are shown around lines with one, and the gaps that are not worth folding. */
const CONTEXT = 3;
const MAX_OPEN_GAP = 20;
/** Calls of a line beyond these are summed up in a row. */
const MAX_CALLS = 6;

/** A row of the listing. */
type ListingRow =
  | { kind: "line"; line: SourceLine }
  | { kind: "call"; line: SourceLine; call: SourceCall }
  | { kind: "more"; line: SourceLine; count: number }
  | { kind: "gap"; from: number; to: number };

export function SourceView() {
  return isComparing.value ? <ChangedSource /> : <PlainSource />;
}

function hasCost(line: SourceLine): boolean {
  return line.self !== null || line.calls.length > 0 || line.jumps.length > 0;
}

/** The lines to show: those with costs, with some around them. Long gaps are folded unless they are opened. */
function listing(lines: SourceLine[], isWhole: boolean, opened: ReadonlySet<number>): ListingRow[] {
  const shown = lines.map(() => isWhole);
  const costly = lines.flatMap((line, index) => (hasCost(line) ? [index] : []));
  if (!isWhole) {
    costly.forEach((index, i) => {
      const next = costly[i + 1];
      const isShortGap = next !== undefined && next - index <= MAX_OPEN_GAP;
      for (let at = index - CONTEXT; at <= (isShortGap ? next : index + CONTEXT); at++) {
        if (at >= 0 && at < lines.length) shown[at] = true;
      }
    });
  }
  const rows: ListingRow[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (!shown[at]) {
      let to = at;
      while (to + 1 < lines.length && !shown[to + 1]) to++;
      if (!opened.has(line.line)) {
        rows.push({ kind: "gap", from: line.line, to: lines[to]!.line });
        at = to;
        continue;
      }
      for (let inner = at; inner <= to; inner++) rows.push({ kind: "line", line: lines[inner]! });
      at = to;
      continue;
    }
    rows.push({ kind: "line", line });
    for (const call of line.calls.slice(0, MAX_CALLS)) rows.push({ kind: "call", line, call });
    if (line.calls.length > MAX_CALLS)
      rows.push({ kind: "more", line, count: line.calls.length - MAX_CALLS });
  }
  return rows;
}

function lineOf(row: ListingRow): number {
  return row.kind === "gap" ? row.from : row.line.line;
}

function jumpsOf(rows: ListingRow[]): Jump[] {
  const rowOfLine = new Map<number, number>();
  rows.forEach((row, index) => {
    if (row.kind === "line") rowOfLine.set(row.line.line, index);
  });
  return rows.flatMap((row, from) =>
    row.kind === "line"
      ? row.line.jumps.flatMap((jump) => {
          const to = rowOfLine.get(jump.to);
          return to === undefined || to === from
            ? []
            : [{ from, to, taken: jump.taken, executed: jump.executed }];
        })
      : [],
  );
}

function hottestRow(rows: ListingRow[], event: string): number {
  let best = -1;
  let most = 0;
  rows.forEach((row, index) => {
    const cost = row.kind === "line" ? Number(row.line.self?.[event] ?? 0) : 0;
    if (cost > most) [best, most] = [index, cost];
  });
  return best >= 0 ? best : rows.findIndex((row) => row.kind === "call");
}

function PlainSource() {
  const { source } = place.value;
  const id = selected.value;
  const hasFunction = id !== null && id !== undefined;
  const { answer, error } = useAnswer(
    hasFunction || source
      ? { kind: "source", function: hasFunction ? id : null, file: source || null }
      : null,
  );
  if (!hasFunction && !source) return <NeedFunction what="its source, with the cost of each line" />;
  return (
    <Status answer={answer} error={error}>
      {answer ? <WithFolder answer={answer} /> : null}
    </Status>
  );
}

/** The answer, with text of the chosen folder if the server found none. */
function WithFolder({ answer }: { answer: Source }) {
  const isMissing = answer.lines.length > 0 && answer.lines.every((line) => line.text.length === 0);
  const path = isMissing ? (answer.files[answer.shown ?? 0]?.path ?? "") : "";
  const { text, problem } = useLocalText(path);
  const shown = useMemo(
    () => (isMissing && text ? withText(answer, text) : answer),
    [answer, text, isMissing],
  );
  return (
    <>
      {isMissing ? <FolderNote text={text} problem={problem} /> : null}
      <Listing answer={shown} />
    </>
  );
}

/** The choice of a file, with the self cost in each. */
function FileChoice({ answer }: { answer: Source }) {
  if (answer.files.length === 0) return null;
  const name = eventName.value;
  const shown = answer.files[answer.shown ?? 0];
  return (
    <label>
      File{" "}
      <select
        class="file-choice"
        value={shown?.path ?? ""}
        title={visible(shown?.path ?? "")}
        onChange={(e) => go({ source: e.currentTarget.value })}
      >
        {answer.files.map((file, index) => (
          <option key={file.path} value={file.path}>
            {index > 0 && answer.function ? "inlined from " : ""}
            {visible(file.path)} ({percentOf(file.self[name], whole.value)})
          </option>
        ))}
      </select>
    </label>
  );
}

function Remarks({ answer }: { answer: Source }) {
  const shown = answer.files[answer.shown ?? 0];
  const name = eventName.value;
  const isEmptyText = answer.lines.length > 0 && answer.lines.every((line) => line.text.length === 0);
  return (
    <>
      <AllCallsNote />
      {shown?.remark && !isEmptyText ? (
        <p class="warn">
          {visible(shown.path)}: {visible(shown.remark)}
        </p>
      ) : null}
      {answer.hidden_lines > 0 ? (
        <p class="note">The file is long: {grouped(answer.hidden_lines)} lines without cost are left out.</p>
      ) : null}
      {isEmptyText ? (
        <p class="note">
          The text of {visible(shown?.path ?? "the file")} was not found, so only line numbers show. Start
          gristmill view where the sources are, or with <code>--source-map FROM=TO</code>. <FolderChoice />
        </p>
      ) : null}
      {Number(answer.without_line[name] ?? 0) > 0 ? (
        <p class="note">
          {grouped(answer.without_line[name])} {name} of it have no line.
        </p>
      ) : null}
    </>
  );
}

function cellsOf(answer: Source): Cell[][] {
  const events = shownEvents.value;
  return [
    ["line", ...events.flatMap((name) => [`self ${name}`, `with calls ${name}`]), "source"],
    ...answer.lines
      .filter(hasCost)
      .map((line) => [
        line.line,
        ...events.flatMap((name) => [line.self?.[name], line.inclusive?.[name]]),
        line.text.map((span) => span.text).join(""),
      ]),
  ];
}

function Listing({ answer }: { answer: Source }) {
  const [isWhole, setWhole] = useState(false);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const event = eventName.value;
  useEffect(() => setOpened(new Set()), [answer]);
  const rows = useMemo(() => listing(answer.lines, isWhole, opened), [answer, isWhole, opened]);
  const lanes = useMemo(() => lanesOf(jumpsOf(rows)), [rows]);
  const window = useRows(rows.length, ROW_HEIGHT);
  const hottest = useMemo(() => hottestRow(rows, event), [rows, event]);
  useEffect(() => window.show(hottest, "center"), [answer, event]);
  const most = answer.lines.reduce((high, line) => Math.max(high, Number(line.self?.[event] ?? 0)), 0);
  if (answer.lines.length === 0) {
    return (
      <>
        <Remarks answer={answer} />
        <Empty title="No source lines">
          The profile has no lines for this: compile with -g, and record with line numbers (not
          --dump-line=no).
        </Empty>
      </>
    );
  }
  const columns = shownEvents.value.length * 2 + 3;
  return (
    <>
      <div class="tools">
        <h1>{visible(answer.function?.name ?? answer.files[answer.shown ?? 0]?.path ?? "")}</h1>
        <FileChoice answer={answer} />
        <label>
          <input type="checkbox" checked={isWhole} onChange={() => setWhole(!isWhole)} /> all lines
        </label>
        {answer.function && answer.files.length > 0 ? (
          <button
            title="The lines of all functions of the file"
            onClick={() =>
              go({ name: "", file: "", object: "", twin: "", source: answer.files[answer.shown ?? 0]!.path })
            }
          >
            Whole file
          </button>
        ) : null}
        <Export name="source" json={answer} rows={() => cellsOf(answer)} />
      </div>
      <Remarks answer={answer} />
      <CodeTable
        label="Source"
        kind="src"
        rows={rows}
        window={window}
        lanes={lanes}
        columns={columns}
        text="Source"
        heads={
          <>
            <NumberHead>Line</NumberHead>
            {shownEvents.value.map((name) => (
              <LineHeads key={name} suffix={shownEvents.value.length > 1 ? ` ${name}` : ""} />
            ))}
          </>
        }
        shareOf={(row) => (row.kind === "line" ? share(row.line.self?.[event], most) : 0)}
        row={(row, index) => (
          <SourceRow
            key={`${row.kind} ${lineOf(row)} ${index}`}
            row={row}
            index={index}
            lanes={lanes}
            most={most}
            isHottest={index === hottest}
            onOpen={() => setOpened(new Set([...opened, lineOf(row)]))}
            id={answer.function?.id ?? null}
          />
        )}
      />
    </>
  );
}

function LineHeads({ suffix }: { suffix: string }) {
  return (
    <>
      <NumberHead>Self{suffix}</NumberHead>
      <NumberHead>With calls{suffix}</NumberHead>
    </>
  );
}

function Text({ line }: { line: SourceLine }) {
  return (
    <pre>
      {line.text.map((span, index) => (
        <span key={index} class={span.kind ? `k-${span.kind}` : ""}>
          {visible(span.text.replaceAll("\t", "    "))}
        </span>
      ))}
    </pre>
  );
}

function SourceRow({
  row,
  index,
  lanes,
  most,
  isHottest,
  onOpen,
  id,
}: {
  row: ListingRow;
  index: number;
  lanes: Lanes;
  most: number;
  isHottest: boolean;
  onOpen: () => void;
  id: number | null;
}) {
  const events = shownEvents.value;
  const laneCell = <LaneCell lanes={lanes} row={index} height={ROW_HEIGHT} />;
  if (row.kind === "gap") {
    return (
      <tr class="gap" aria-rowindex={index + 2}>
        <td colSpan={events.length * 2 + 1} />
        {laneCell}
        <td>
          <button class="plain" onClick={onOpen}>
            … {grouped(row.to - row.from + 1)} lines without cost
          </button>
        </td>
      </tr>
    );
  }
  if (row.kind === "more") {
    return (
      <tr class="callrow" aria-rowindex={index + 2}>
        <td colSpan={events.length * 2 + 1} />
        {laneCell}
        <td>↳ and calls to {grouped(row.count)} more functions</td>
      </tr>
    );
  }
  if (row.kind === "call") return <CallRow call={row.call} index={index} laneCell={laneCell} id={id} />;
  const { line } = row;
  const heat =
    line.self && most > 0 ? heatToken(share(line.self[eventName.value], most), LINE_STEPS).slice(2) : "";
  const jumps = line.jumps.map((jump) => sayJump(jump, `line ${jump.to}`)).join("; ");
  return (
    <tr
      id={`line-${line.line}`}
      class={heat ? `heated ${heat}` : ""}
      aria-rowindex={index + 2}
      aria-selected={isHottest}
    >
      <td class="num line-number">{line.line}</td>
      {events.map((name) => (
        <LineCosts key={name} line={line} name={name} />
      ))}
      {laneCell}
      <td title={jumps || undefined}>
        <Text line={line} />
      </td>
    </tr>
  );
}

function LineCosts({ line, name }: { line: SourceLine; name: string }) {
  return (
    <>
      <td class="num">{line.self ? <Cost costs={line.self} event={name} /> : null}</td>
      <td class="num">
        {line.inclusive && line.calls.length > 0 ? (
          <Cost costs={line.inclusive} event={name} bar={false} />
        ) : null}
      </td>
    </>
  );
}

function CallRow({
  call,
  index,
  laneCell,
  id,
}: {
  call: SourceCall;
  index: number;
  laneCell: preact.JSX.Element;
  id: number | null;
}) {
  return (
    <tr class="callrow" aria-rowindex={index + 2}>
      <td />
      {shownEvents.value.map((name) => (
        <CallCosts key={name} call={call} name={name} isInner={call.is_inner || call.function === id} />
      ))}
      {laneCell}
      <td>
        ↳ {callCount(call)} ×{" "}
        <button
          class="name fn"
          title="Show the source of this function"
          onClick={() => void selectById(call.function, "source")}
        >
          {visible(call.name)}
        </button>
      </td>
    </tr>
  );
}

function CallCosts({ call, name, isInner }: { call: SourceCall; name: string; isInner: boolean }) {
  return (
    <>
      <td />
      <td class="num">
        <Cost costs={call.cost} event={name} bar={false} inner={isInner} />
      </td>
    </>
  );
}

// ---- The comparison: one function on both sides.

function ChangedSource() {
  const { answer, error } = useAnswer(changedFunction.value);
  if (changedFunction.value === null)
    return <NeedFunction what="its lines on both sides of the comparison" />;
  return (
    <Status answer={answer} error={error}>
      {answer ? <ChangedLines answer={answer} /> : null}
    </Status>
  );
}

function ChangedLines({ answer }: { answer: DiffFunction }) {
  const event = eventName.value;
  const cells = () => [
    ["file", "line before", "line after", "before", "after", "change", "source"],
    ...answer.lines.map((line) => {
      const change = sidesOf(line.self[event]);
      return [
        line.file,
        line.base_line,
        line.new_line,
        change?.base,
        change?.new,
        change?.change,
        line.source,
      ];
    }),
  ];
  if (answer.lines.length === 0) {
    return <Empty title="No source lines">Neither side has lines of this function: compile with -g.</Empty>;
  }
  const { swapped } = place.value;
  return (
    <>
      <div class="tools">
        <h1>{visible(answer.function.name)}</h1>
        <Export name="changed-lines" json={answer} rows={cells} />
      </div>
      <Region label="Source with both sides">
        <table class="src">
          <Heads numbers={["Line before", "after", "Self before", "after", "Change"]} texts={["Source"]} />
          <tbody>
            {answer.lines.map((line, index) => {
              const change = sidesOf(line.self[event]);
              const [before, after] = swapped
                ? [line.new_line, line.base_line]
                : [line.base_line, line.new_line];
              const isOfFile = line.file === (answer.lines[index - 1]?.file ?? answer.function.file);
              return (
                <>
                  {isOfFile ? null : (
                    <tr class="subhead" key={`${index}.file`}>
                      <td colSpan={6}>
                        {line.file === answer.function.file ? "" : "inlined from "}
                        {line.file === "" ? "an unknown file" : visible(line.file)}
                      </td>
                    </tr>
                  )}
                  <tr key={index}>
                    <td class="num faint">{before ?? ""}</td>
                    <td class="num faint">{after ?? ""}</td>
                    <td class="num">{grouped(change?.base)}</td>
                    <td class="num">{grouped(change?.new)}</td>
                    <td class="num">
                      <ChangeNumber change={change} />
                    </td>
                    <td>
                      <pre>{visible((line.source ?? "").replaceAll("\t", "    "))}</pre>
                    </td>
                  </tr>
                  {line.calls.map((call, i) => (
                    <tr class="callrow" key={`${index}.${i}`}>
                      <td colSpan={4} />
                      <td class="num">
                        <ChangeCost changes={call.inclusive} />
                      </td>
                      <td>
                        ↳ <ChangeNumber change={sidesOf(call.calls)} isCount /> calls of{" "}
                        <button class="name fn" onClick={() => select(joined(call.function), "source")}>
                          {visible(call.function.name)}
                        </button>
                      </td>
                    </tr>
                  ))}
                </>
              );
            })}
          </tbody>
        </table>
      </Region>
    </>
  );
}
