// Functions in comparison: before, after, change. Pages of rows, one side at a time.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ChangedSide, ChangeRow, ChangeSort, ChangesPage, SideCounts } from "../answers";
import { grouped, signed } from "../format";
import { go, place, type Sides } from "../place";
import { allRows, eventName, isSelectedRow, joined, list } from "../state";
import { Empty, Status, useAnswer } from "../parts/answer";
import { ChangeNumber, Name, sidesOf } from "../parts/cost";
import { openMenu } from "../parts/menu";
import { NumberHead, Pad, Region, useRows } from "../parts/rows";
import { Export, mapped } from "../parts/save";
import { RowTools } from "./functions";

const ROW_HEIGHT = 24;
/** Rows of one answer are a multiple of this: a short scroll asks nothing. */
const PAGE = 200;
const SIDES: [Sides, string][] = [
  ["all", "All"],
  ["worse", "Worse"],
  ["better", "Better"],
  ["new", "New"],
  ["gone", "Gone"],
];
/** The sides of the library if the page shows them swapped. */
const OPPOSITE: Record<Sides, ChangedSide> = {
  all: "all",
  worse: "better",
  better: "worse",
  new: "gone",
  gone: "new",
};

/** The columns that rows of the comparison and of the report have. */
type Row = Pick<
  ChangeRow,
  "name" | "base_name" | "file" | "object" | "on" | "self" | "inclusive" | "inclusive_is_doubtful" | "calls"
> & {
  id?: number | null;
};

/** The side that a row is on, as the page shows it. */
function presence(row: Row): "both" | "new" | "gone" {
  if (row.on === "both") return "both";
  return (row.on === "new") !== place.value.swapped ? "new" : "gone";
}

function sideOfLibrary(side: Sides): ChangedSide {
  return place.value.swapped ? OPPOSITE[side] : side;
}

export function changeSort(): ChangeSort {
  const { sort } = place.value;
  return sort === "inclusive" ? "inclusive_change" : sort === "name" ? "name" : "self_change";
}

export function ChangedFunctions() {
  const { group, filter, sides, sort, swapped } = place.value;
  const [start, setStart] = useState(0);
  const question = {
    kind: "changes_page" as const,
    group,
    sort: changeSort(),
    side: sideOfLibrary(sides),
    filter,
    start,
    count: PAGE * 2,
  };
  const { answer, error } = useAnswer(question);
  const box = useRef<HTMLDivElement>(null);
  const above = useRef<HTMLTableRowElement>(null);
  const below = useRef<HTMLTableRowElement>(null);
  const first = answer?.start ?? 0;
  const count = answer?.rows.length ?? 0;
  const all = answer?.listed ?? 0;
  useEffect(() => {
    setStart(0);
    if (box.current) box.current.scrollTop = 0;
  }, [group, sort, filter, sides, swapped]);
  useLayoutEffect(() => {
    if (above.current) above.current.style.height = `${first * ROW_HEIGHT}px`;
    if (below.current) below.current.style.height = `${Math.max(0, all - first - count) * ROW_HEIGHT}px`;
  }, [all, first, count]);
  useEffect(() => {
    list.value = (answer?.rows ?? []).map(joined);
  }, [answer]);
  const onScroll = () => {
    const row = Math.floor(box.current!.scrollTop / ROW_HEIGHT);
    setStart(Math.max(0, Math.floor((row - PAGE / 2) / PAGE) * PAGE));
  };
  /** The answer with all rows that are listed, not only those around the ones in sight. */
  const whole = () => allRows(question, answer!, all);
  const rows = () => mapped(whole(), (page) => cells(page.rows));
  return (
    <>
      <div class="tools">
        <RowTools />
        <SideTabs counts={answer?.counts} />
        {answer ? <Sum answer={answer} /> : null}
        {answer ? <Export name="changes" json={whole} rows={rows} /> : null}
      </div>
      <Status answer={answer} error={error}>
        {answer && answer.all === 0 ? (
          <Empty title="Nothing changed like this">No function is on this side of the comparison.</Empty>
        ) : null}
        {answer && answer.all > 0 ? (
          <Region label="Changes" rows={{ box, onScroll }}>
            <table aria-rowcount={answer.all + 1}>
              <Heading />
              <tbody>
                <Pad at={above} columns={6} />
                {answer.rows.map((row, index) => (
                  <ChangeLine key={keyOf(row)} row={row} index={first + index} />
                ))}
                <Pad at={below} columns={6} />
              </tbody>
            </table>
          </Region>
        ) : null}
        {answer && answer.all > answer.listed ? (
          <p class="hidden">
            The {grouped(answer.listed)} greatest changes are listed, {grouped(answer.all - answer.listed)}{" "}
            more are not.
          </p>
        ) : null}
      </Status>
    </>
  );
}

/** The count of rows of the side, and the change of their self costs. */
function Sum({ answer }: { answer: ChangesPage }) {
  const change = sidesOf(answer.self[eventName.value]);
  return (
    <span class="dim" role="status">
      {grouped(answer.all)} {answer.all === 1 ? "row" : "rows"}, self {signed(change?.change ?? 0)}
    </span>
  );
}

function SideTabs({ counts }: { counts: SideCounts | undefined }) {
  return (
    <span class="tabs" role="group" aria-label="Side of the comparison">
      {SIDES.map(([side, name]) => (
        <button key={side} aria-pressed={place.value.sides === side} onClick={() => go({ sides: side })}>
          {name} <span class="count">{grouped(counts?.[sideOfLibrary(side)])}</span>
        </button>
      ))}
    </span>
  );
}

export function cells(rows: Row[]) {
  const event = eventName.value;
  const heads = ["self before", "self after", "change", "inclusive before", "inclusive after", "change"];
  return [
    [...heads, "side", "name", "file", "object"],
    ...rows.map((row) => {
      const self = sidesOf(row.self[event]);
      const inclusive = sidesOf(row.inclusive[event]);
      return [
        self?.base,
        self?.new,
        self?.change,
        inclusive?.base,
        inclusive?.new,
        inclusive?.change,
        presence(row),
        row.name,
        row.file,
        row.object,
      ];
    }),
  ];
}

function keyOf(row: Row): string {
  return `${row.id ?? ""} ${row.name} ${row.file}`;
}

function ChangeHead({ name, sort }: { name: string; sort: "self_cost" | "inclusive" }) {
  const isSorted =
    (place.value.sort === "inclusive") === (sort === "inclusive") && place.value.sort !== "name";
  return (
    <th scope="col" class="num" aria-sort={isSorted ? "descending" : undefined}>
      <button
        title="The greatest change first, up or down; % of the cost before"
        onClick={() => go({ sort, ascending: false })}
      >
        {name}
        {isSorted ? " ▼" : ""}
      </button>
    </th>
  );
}

function Heading() {
  return (
    <thead>
      <tr>
        <NumberHead>Self before</NumberHead>
        <NumberHead>Self after</NumberHead>
        <ChangeHead name="Change of self" sort="self_cost" />
        <ChangeHead name="of inclusive" sort="inclusive" />
        <NumberHead>of calls</NumberHead>
        <th scope="col">Function</th>
      </tr>
    </thead>
  );
}

/** Rows of changes. Only those in sight are in the document. */
export function ChangeTable({ rows }: { rows: Row[] }) {
  const window = useRows(rows.length, ROW_HEIGHT);
  return (
    <Region label="Changes" rows={window}>
      <table aria-rowcount={rows.length + 1}>
        <Heading />
        <tbody>
          <Pad at={window.above} columns={6} />
          {rows.slice(window.from, window.to).map((row, index) => (
            <ChangeLine key={keyOf(row)} row={row} index={window.from + index} />
          ))}
          <Pad at={window.below} columns={6} />
        </tbody>
      </table>
    </Region>
  );
}

function ChangeLine({ row, index }: { row: Row; index: number }) {
  const event = eventName.value;
  const self = sidesOf(row.self[event]);
  const side = presence(row);
  const named = joined({ ...row, id: row.id ?? null });
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={isSelectedRow(named)}
      onContextMenu={(e) => openMenu(e, named)}
    >
      <td class="num">{grouped(self?.base)}</td>
      <td class="num">{grouped(self?.new)}</td>
      <td class="num">
        <ChangeNumber change={self} />
      </td>
      <td class="num">
        <ChangeNumber change={sidesOf(row.inclusive[event])} estimate={row.inclusive_is_doubtful} />
      </td>
      <td class="num">
        <ChangeNumber change={sidesOf(row.calls)} isCount />
      </td>
      <td>
        <Name row={named} />
        {side === "both" ? null : <span class="tag">{side}</span>}
        {row.base_name && row.base_name !== row.name ? <span class="at">before: {row.base_name}</span> : null}
      </td>
    </tr>
  );
}
