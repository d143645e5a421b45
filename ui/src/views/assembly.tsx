import { useEffect, useMemo, useState } from "preact/hooks";
import type { Assembly, Exact, Instruction } from "../answers";
import { base, grouped, percentOf, share, visible } from "../format";
import { go } from "../place";
import { hasPrograms } from "../opening";
import { eventName, selectById, selected, shownEvents, summary, whole } from "../state";
import { AllCallsNote, Empty, NeedFunction, Status, useAnswer } from "../parts/answer";
import { heatToken, LINE_STEPS } from "../parts/colours";
import { Cost } from "../parts/cost";
import { LaneCell, lanesOf, sayJump, type Jump, type Lanes } from "../parts/lanes";
import { CodeTable } from "../parts/code-table";
import { NumberHead, useRows } from "../parts/rows";
import { Export } from "../parts/save";

const ROW_HEIGHT = 20;

type AssembledFunction = Assembly["functions"][number];
type Call = Instruction["calls"][number];
type ListingRow =
  | { kind: "inlined"; text: string; depth: number }
  | { kind: "source"; file: string; line: number; text: string | null }
  | { kind: "instruction"; step: Instruction }
  | { kind: "call"; call: Call };

/** The text of source lines, by file and line, as far as they were found. */
function textsOf(answer: Assembly): Map<string, string> {
  return new Map(
    answer.sources.flatMap(({ file, lines }) =>
      lines.map(({ line, text }) => [`${file}:${line}`, text] as [string, string]),
    ),
  );
}

/** Instructions, after their source lines and the headings of inlined functions. */
function listing(code: AssembledFunction, withSource: boolean, texts: Map<string, string>): ListingRow[] {
  const rows: ListingRow[] = [];
  let inlined = "";
  let lineKey = "";
  for (const step of code.instructions) {
    // The first frame is the function itself; the others were inlined, each into the one before.
    const names = step.frames.slice(1).map((frame) => frame.function ?? "???");
    const chain = names.join(" ← ");
    if (chain !== inlined) {
      inlined = chain;
      lineKey = "";
      rows.push({
        kind: "inlined",
        text: chain === "" ? `back in ${code.name}` : `inlined: ${names.join(" → ")}`,
        depth: names.length,
      });
    }
    const frame = step.frames.at(-1);
    if (withSource && frame?.line != null) {
      const file = frame.file ?? "";
      const key = `${file}:${frame.line}`;
      if (key !== lineKey) {
        lineKey = key;
        rows.push({
          kind: "source",
          file,
          line: frame.line,
          text: texts.get(key) ?? null,
        });
      }
    }
    rows.push({ kind: "instruction", step });
    for (const call of step.calls) rows.push({ kind: "call", call });
  }
  return rows;
}

function jumpsOf(rows: ListingRow[]): Jump[] {
  const rowOf = new Map<string, number>();
  rows.forEach((row, index) => {
    if (row.kind === "instruction") rowOf.set(row.step.address, index);
  });
  return rows.flatMap((row, from) =>
    row.kind === "instruction"
      ? row.step.jumps.flatMap((jump) => {
          const to = jump.target === null ? undefined : rowOf.get(jump.target);
          return to === undefined ? [] : [{ from, to, taken: jump.taken, executed: jump.executed }];
        })
      : [],
  );
}

export function AssemblyView() {
  const id = selected.value;
  const hasFunction = id !== null && id !== undefined;
  const hasAddresses = summary.value?.has.addresses !== false;
  const { answer, error } = useAnswer(
    hasFunction && hasAddresses ? { kind: "assembly", function: id } : null,
  );
  if (!hasAddresses) return <NoInstructions />;
  if (!hasFunction) return <NeedFunction what="its instructions, with their costs" />;
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <AllCallsNote />
          <Code answer={answer} />
        </>
      ) : null}
    </Status>
  );
}

/** The reason why instructions are missing or may be those of another build. */
function ProgramRemarks({ answer }: { answer: Assembly }) {
  if (!hasPrograms)
    return (
      <p class="note">
        This page has no programs, so instructions have their addresses and costs, but no text. gristmill view
        has it, where the program is.
      </p>
    );
  return (
    <>
      {answer.programs.map((program) =>
        program.problem || program.hint ? (
          <p class="warn" key={program.object}>
            {visible(program.problem ?? program.object)}. {visible(program.hint ?? "")}
          </p>
        ) : null,
      )}
    </>
  );
}

function NoInstructions() {
  return (
    <Empty title="No instructions">
      The profile has no addresses of instructions: record with gristmill record --dump-instr=yes, or with
      valgrind --tool=callgrind --dump-instr=yes, and --collect-jumps=yes for jumps.
    </Empty>
  );
}

function Code({ answer }: { answer: Assembly }) {
  const code = answer.functions[0];
  if (!code || code.instructions.length === 0) {
    return (
      <>
        {hasPrograms ? <ProgramRemarks answer={answer} /> : null}
        <NoInstructions />
      </>
    );
  }
  return <Listing answer={answer} code={code} />;
}

function Listing({ answer, code }: { answer: Assembly; code: AssembledFunction }) {
  const [withSource, setWithSource] = useState(true);
  const event = eventName.value;
  const texts = useMemo(() => textsOf(answer), [answer]);
  const rows = useMemo(() => listing(code, withSource, texts), [code, withSource, texts]);
  const lanes = useMemo(() => lanesOf(jumpsOf(rows)), [rows]);
  const window = useRows(rows.length, ROW_HEIGHT);
  const most = code.instructions.reduce((high, step) => Math.max(high, Number(step.self[event] ?? 0)), 0);
  const hottest = useMemo(
    () => rows.findIndex((row) => row.kind === "instruction" && Number(row.step.self[event] ?? 0) === most),
    [rows, event, most],
  );
  useEffect(() => window.show(hottest, "center"), [code, event]);
  const cells = () => [
    ["address", ...shownEvents.value.map((name) => `self ${name}`), "instruction", "line"],
    ...code.instructions.map((step) => [
      step.address,
      ...shownEvents.value.map((name) => step.self[name]),
      step.text,
      step.frames.at(-1)?.line,
    ]),
  ];
  const columns = shownEvents.value.length + 3;
  const without = code.without_address?.[event];
  return (
    <>
      <div class="tools">
        <h1>{visible(code.name)}</h1>
        <label>
          <input type="checkbox" checked={withSource} onChange={() => setWithSource(!withSource)} /> source
          lines
        </label>
        <span class="dim">
          self {grouped(code.self[event])} ({percentOf(code.self[event], whole.value)})
          {code.is_certain || !hasPrograms ? "" : "; the program may be another build"}
        </span>
        <Export name="machine-code" json={answer} rows={cells} />
      </div>
      <ProgramRemarks answer={answer} />
      {Number(without ?? 0) > 0 ? (
        <p class="note">
          {grouped(without)} {event} of it have no address.
        </p>
      ) : null}
      <CodeTable
        label="Machine code"
        kind="src asm"
        rows={rows}
        window={window}
        lanes={lanes}
        columns={columns}
        text="Instruction"
        heads={
          <>
            <NumberHead>Address</NumberHead>
            {shownEvents.value.map((name) => (
              <NumberHead key={name}>Self, calls {shownEvents.value.length > 1 ? name : ""}</NumberHead>
            ))}
          </>
        }
        shareOf={(row) => (row.kind === "instruction" ? share(row.step.self[event], most) : 0)}
        row={(row, index) => (
          <CodeRow
            key={index}
            row={row}
            index={index}
            lanes={lanes}
            most={most}
            isHottest={index === hottest}
          />
        )}
      />
    </>
  );
}

function CodeRow({
  row,
  index,
  lanes,
  most,
  isHottest,
}: {
  row: ListingRow;
  index: number;
  lanes: Lanes;
  most: number;
  isHottest: boolean;
}) {
  const events = shownEvents.value;
  const laneCell = <LaneCell lanes={lanes} row={index} height={ROW_HEIGHT} />;
  const before = <td colSpan={events.length + 1} />;
  if (row.kind === "inlined") {
    return (
      <tr class="inlined" aria-rowindex={index + 2}>
        {before}
        {laneCell}
        <td title={visible(row.text)}>{visible(row.text)}</td>
      </tr>
    );
  }
  if (row.kind === "source") {
    return (
      <tr class="code-line" aria-rowindex={index + 2}>
        {before}
        {laneCell}
        <td>
          <button
            class="plain fn"
            title={visible(row.file)}
            onClick={() => go({ view: "source", source: row.file })}
          >
            {base(row.file)}:{row.line}
          </button>{" "}
          <span class="fn">{visible((row.text ?? "").trim())}</span>
        </td>
      </tr>
    );
  }
  if (row.kind === "call") {
    return (
      <tr class="callrow" aria-rowindex={index + 2}>
        <td />
        {events.map((name) => (
          <td key={name} class="num">
            <Cost costs={row.call.cost} event={name} bar={false} />
          </td>
        ))}
        {laneCell}
        <td>
          ↳ {grouped(row.call.calls)} ×{" "}
          <button class="name fn" onClick={() => void selectById(row.call.id, "assembly")}>
            {visible(row.call.name)}
          </button>
        </td>
      </tr>
    );
  }
  return (
    <InstructionRow step={row.step} index={index} laneCell={laneCell} most={most} isHottest={isHottest} />
  );
}

function InstructionRow({
  step,
  index,
  laneCell,
  most,
  isHottest,
}: {
  step: Instruction;
  index: number;
  laneCell: preact.JSX.Element;
  most: number;
  isHottest: boolean;
}) {
  const heat =
    step.has_cost && most > 0 ? heatToken(share(step.self[eventName.value], most), LINE_STEPS).slice(2) : "";
  const [jump] = step.jumps;
  return (
    <tr class={heat ? `heated ${heat}` : ""} aria-rowindex={index + 2} aria-selected={isHottest}>
      <td class="num line-number">{step.address.replace(/^0x/, "")}</td>
      {shownEvents.value.map((name) => (
        <td key={name} class="num">
          {step.has_cost ? <Cost costs={step.self} event={name} /> : null}
        </td>
      ))}
      {laneCell}
      <td>
        <pre>
          {visible(step.text ?? (hasPrograms ? "(not readable)" : ""))}
          {jump ? <JumpNote jump={jump} /> : null}
        </pre>
      </td>
    </tr>
  );
}

/** The counts of a jump, after its instruction. */
function JumpNote({
  jump,
}: {
  jump: { target: string | null; function: string | null; taken: Exact; executed: Exact | null };
}) {
  const to = jump.function ?? jump.target ?? "an unknown target";
  const text = sayJump(jump, to);
  return <span class="at">{visible(text)}</span>;
}
