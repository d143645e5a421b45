// Functions in comparison: before, after, change.
import { useEffect, useMemo } from "preact/hooks";
import type { Diff, DiffRow } from "../answers";
import { grouped, signed } from "../format";
import { go, place, type Sides } from "../place";
import { eventName, isSelectedRow, joined, list } from "../state";
import { Empty, Status, useAnswer } from "../parts/answer";
import { ChangeNumber, direction, Name, sidesOf } from "../parts/cost";
import { NumberHead, Pad, Region, useRows } from "../parts/rows";
import { Export } from "../parts/save";
import { RowTools } from "./functions";

const ROW_HEIGHT = 24;
const MAX_ROWS = 5000;
const SIDES: [Sides, string][] = [
  ["all", "All"],
  ["worse", "Worse"],
  ["better", "Better"],
  ["new", "New"],
  ["gone", "Gone"],
];

/** The side that a row is on, as the page shows it. */
function presence(row: DiffRow): "both" | "new" | "gone" {
  if (row.on === "both") return "both";
  return (row.on === "new") !== place.value.swapped ? "new" : "gone";
}

function isOn(row: DiffRow, sides: Sides, event: string): boolean {
  if (sides === "all") return true;
  if (sides === "new" || sides === "gone") return presence(row) === sides;
  const { sort } = place.value;
  const changes = sort === "inclusive" ? row.inclusive : row.self;
  return direction(sidesOf(changes[event])) === sides;
}

export function useChanges() {
  const { group, sort, filter } = place.value;
  const key = sort === "inclusive" ? "inclusive_change" : sort === "name" ? "name" : "self_change";
  return useAnswer({ kind: "changes", group, sort: key, filter, limit: MAX_ROWS });
}

export function ChangedFunctions() {
  const { sides } = place.value;
  const { answer, error } = useChanges();
  const event = eventName.value;
  const rows = useMemo(
    () => (answer?.functions ?? []).filter((row) => isOn(row, sides, event)),
    [answer, sides, event, place.value.swapped, place.value.sort],
  );
  useEffect(() => {
    list.value = rows.map(joined);
  }, [rows]);
  return (
    <>
      <div class="tools">
        <RowTools />
        <SideTabs answer={answer} />
        {answer ? <Export name="changes" json={answer} rows={() => cells(rows)} /> : null}
      </div>
      <Status answer={answer} error={error}>
        {answer && rows.length === 0 ? (
          <Empty title="Nothing changed like this">No function is on this side of the comparison.</Empty>
        ) : null}
        {answer && rows.length > 0 ? <ChangeTable rows={rows} /> : null}
        {answer && answer.rest.functions > 0 ? (
          <p class="hidden">
            {grouped(answer.rest.functions)} more are not shown; their self costs change by{" "}
            {signed(answer.rest.self[event] ?? 0)}.
          </p>
        ) : null}
      </Status>
    </>
  );
}

function SideTabs({ answer }: { answer: Diff | null }) {
  return (
    <span class="tabs" role="group" aria-label="Side of the comparison">
      {SIDES.map(([side, name]) => {
        const count = answer?.functions.filter((row) => isOn(row, side, eventName.value)).length;
        return (
          <button key={side} aria-pressed={place.value.sides === side} onClick={() => go({ sides: side })}>
            {name} <span class="count">{grouped(count)}</span>
          </button>
        );
      })}
    </span>
  );
}

function cells(rows: DiffRow[]) {
  const event = eventName.value;
  return [
    [
      "self before",
      "self after",
      "change",
      "inclusive before",
      "inclusive after",
      "change",
      "side",
      "name",
      "file",
      "object",
    ],
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

function ChangeHead({ name, sort }: { name: string; sort: "self_cost" | "inclusive" }) {
  const isSorted =
    (place.value.sort === "inclusive") === (sort === "inclusive") && place.value.sort !== "name";
  return (
    <th scope="col" class="num" aria-sort={isSorted ? "descending" : undefined}>
      <button title="The greatest change first, up or down" onClick={() => go({ sort, ascending: false })}>
        {name}
        {isSorted ? " ▼" : ""}
      </button>
    </th>
  );
}

/** Rows of changes. Only those in sight are in the document. */
export function ChangeTable({ rows }: { rows: DiffRow[] }) {
  const window = useRows(rows.length, ROW_HEIGHT);
  const event = eventName.value;
  return (
    <Region label="Changes" rows={window}>
      <table aria-rowcount={rows.length + 1}>
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
        <tbody>
          <Pad at={window.above} columns={6} />
          {rows.slice(window.from, window.to).map((row, index) => (
            <ChangeLine
              key={`${row.id} ${row.name} ${row.file}`}
              row={row}
              index={window.from + index}
              event={event}
            />
          ))}
          <Pad at={window.below} columns={6} />
        </tbody>
      </table>
    </Region>
  );
}

function ChangeLine({ row, index, event }: { row: DiffRow; index: number; event: string }) {
  const self = sidesOf(row.self[event]);
  const side = presence(row);
  return (
    <tr aria-rowindex={index + 2} aria-selected={isSelectedRow(joined(row))}>
      <td class="num">{grouped(self?.base)}</td>
      <td class="num">{grouped(self?.new)}</td>
      <td class="num">
        <ChangeNumber change={self} />
      </td>
      <td class="num">
        <ChangeNumber change={sidesOf(row.inclusive[event])} />
      </td>
      <td class="num">
        <ChangeNumber change={sidesOf(row.calls)} />
      </td>
      <td>
        <Name row={joined(row)} />
        {side === "both" ? null : <span class="tag">{side}</span>}
        {row.base_name && row.base_name !== row.name ? <span class="at">before: {row.base_name}</span> : null}
      </td>
    </tr>
  );
}
