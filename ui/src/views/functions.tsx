import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { FunctionRow, FunctionsPage, Group, Sort } from "../answers";
import { base, callCount, grouped, perCall, percentOf, visible } from "../format";
import { goToTable } from "../actions";
import { go, place } from "../place";
import {
  allRows,
  eventName,
  isComparing,
  list,
  select,
  selected,
  shownEvents,
  summary,
  total,
} from "../state";
import { Empty, Status, useAnswer } from "../parts/answer";
import { Cost, Name } from "../parts/cost";
import { Marked, WithMark } from "../parts/marked";
import { openMenu } from "../parts/menu";
import { NumberHead, Pad, Region } from "../parts/rows";
import { Export, mapped } from "../parts/save";
import { ChangedFunctions } from "./changed-functions";
import { Names } from "../parts/room";

const ROW_HEIGHT = 24;
/** Rows of one answer are a multiple of this: a short scroll asks nothing. */
const PAGE = 100;
/** Browsers limit the height of an element; above it, the scroll bar stands for more than its pixels. */
const MAX_PIXELS = 8_000_000;

export const GROUPS: [Group, string][] = [
  ["function", "functions"],
  ["object", "objects"],
  ["file", "files"],
  ["directory", "directories"],
  ["class", "classes"],
  ["crate", "crates"],
  ["package", "packages"],
  ["cycle", "cycles"],
];

export function Functions() {
  return isComparing.value ? <ChangedFunctions /> : <PlainFunctions />;
}

/** The kind and the name of the group that the rows belong to. */
function withinGroup(): { group: Group; name: string } | null {
  const { within } = place.value;
  const colon = within.indexOf(":");
  return colon < 0 ? null : { group: within.slice(0, colon) as Group, name: within.slice(colon + 1) };
}

/** The page of rows in sight. */
function usePage() {
  const { group, sort, ascending, filter, within } = place.value;
  const [start, setStart] = useState(0);
  const question = {
    kind: "functions" as const,
    group,
    sort,
    ascending,
    filter,
    within: withinGroup(),
    start,
    count: PAGE * 2,
  };
  const { answer, error } = useAnswer(question);
  const box = useRef<HTMLDivElement>(null);
  const above = useRef<HTMLTableRowElement>(null);
  const below = useRef<HTMLTableRowElement>(null);
  const all = answer?.all ?? 0;
  const count = answer?.rows.length ?? 0;
  const first = answer?.start ?? 0;
  const height = Math.min(all * ROW_HEIGHT, MAX_PIXELS);
  useEffect(() => {
    setStart(0);
    if (box.current) box.current.scrollTop = 0;
  }, [group, sort, ascending, filter, within]);
  useLayoutEffect(() => {
    const top = all <= count ? 0 : (first / (all - count)) * Math.max(0, height - count * ROW_HEIGHT);
    if (above.current) above.current.style.height = `${top}px`;
    if (below.current) below.current.style.height = `${Math.max(0, height - top - count * ROW_HEIGHT)}px`;
  }, [all, first, count]);
  const onScroll = () => {
    const { scrollTop, clientHeight } = box.current!;
    const share = scrollTop / Math.max(1, height - clientHeight);
    const row = Math.round(share * Math.max(0, all - clientHeight / ROW_HEIGHT));
    setStart(Math.max(0, Math.floor((row - PAGE / 2) / PAGE) * PAGE));
  };
  /** The answer with all rows, not only those around the ones in sight. */
  const whole = () => allRows(question, answer!, all);
  return { answer, error, box, above, below, onScroll, first, all, whole };
}

function SortHead({ name, sort, isNumber }: { name: string; sort: Sort; isNumber: boolean }) {
  const at = place.value;
  const isSorted = at.sort === sort;
  return (
    <th
      scope="col"
      class={
        sort === "per_call" ? "num per-call" : sort === "calls" ? "num call-count" : isNumber ? "num" : ""
      }
      aria-sort={isSorted ? (at.ascending ? "ascending" : "descending") : undefined}
    >
      <button onClick={() => go({ sort, ascending: isSorted ? !at.ascending : !isNumber })}>
        {name}
        {isSorted ? (at.ascending ? " ▲" : " ▼") : ""}
      </button>
    </th>
  );
}

function PlainFunctions() {
  const { group, filter } = place.value;
  const page = usePage();
  const { answer } = page;
  useEffect(() => {
    list.value = answer?.rows ?? [];
  }, [answer]);
  // What was selected elsewhere is in sight when the list opens.
  const isOpen = useRef(false);
  useEffect(() => {
    if (!answer || isOpen.current) return;
    isOpen.current = true;
    document.getElementById(`row-${selected.value}`)?.scrollIntoView({ block: "center" });
  }, [answer]);
  const onKeyDown = (e: KeyboardEvent) => {
    const rows = answer?.rows ?? [];
    const at = rows.findIndex((row) => row.id === selected.value);
    const next = e.key === "ArrowDown" ? rows[at + 1] : e.key === "ArrowUp" ? rows[at - 1] : undefined;
    if (next) {
      e.preventDefault();
      // The name that was clicked before must not take the next Enter.
      page.box.current!.focus();
      select(next, undefined, true);
      document.getElementById(`row-${next.id}`)?.scrollIntoView({ block: "nearest" });
    }
    if (e.key === "Enter" && at >= 0 && e.target === page.box.current) go({ view: "callers" });
  };
  const events = shownEvents.value;
  const hasCounts = summary.value?.has.call_counts ?? true;
  const columns = events.length * 2 + (hasCounts ? 2 : 0) + (group === "function" ? 2 : 1);
  return (
    <>
      <Tools answer={answer} whole={page.whole} />
      <Status answer={answer} error={page.error}>
        {page.all === 0 ? (
          <NoRows />
        ) : (
          <Region label="Functions" rows={page} onKeyDown={onKeyDown}>
            <Names.Provider value={(answer?.rows ?? []).map((row) => row.name)}>
              <table aria-rowcount={page.all + 1}>
                <thead>
                  <tr>
                    {events.map((name, index) => (
                      <EventHeads key={name} name={name} isFirst={index === 0} isOnly={events.length === 1} />
                    ))}
                    {hasCounts ? <SortHead name="Calls" sort="calls" isNumber /> : null}
                    {hasCounts ? <SortHead name="Per call" sort="per_call" isNumber /> : null}
                    <SortHead name="Name" sort="name" isNumber={false} />
                    {group === "function" ? <LocationHead /> : null}
                  </tr>
                </thead>
                <tbody>
                  <Pad at={page.above} columns={columns} />
                  {answer?.rows.map((row, index) => (
                    <FunctionLine
                      key={`${row.id}${row.name}`}
                      row={row}
                      index={page.first + index}
                      group={group}
                      filter={filter}
                      hasCounts={hasCounts}
                    />
                  ))}
                  <Pad at={page.below} columns={columns} />
                </tbody>
              </table>
            </Names.Provider>
          </Region>
        )}
      </Status>
    </>
  );
}

function NoRows() {
  const { group, filter, within } = place.value;
  if (filter || within)
    return <Empty title="Nothing matches">Remove the filter, or choose other rows.</Empty>;
  const what = GROUPS.find(([key]) => key === group)![1];
  return <Empty title={`No ${what}`}>There are none with a cost in what is shown.</Empty>;
}

/** The columns of an event type. Only the first decides orders. */
function EventHeads({ name, isFirst, isOnly }: { name: string; isFirst: boolean; isOnly: boolean }) {
  const suffix = isOnly ? "" : ` ${name}`;
  if (isFirst) {
    return (
      <>
        <SortHead name={`Self${suffix}`} sort="self_cost" isNumber />
        <SortHead name={`Inclusive${suffix}`} sort="inclusive" isNumber />
      </>
    );
  }
  return (
    <>
      <NumberHead>Self{suffix}</NumberHead>
      <NumberHead>Inclusive{suffix}</NumberHead>
    </>
  );
}

/** The file and the object. The column can be made wider, and sorts by both. */
function LocationHead() {
  const { sort } = place.value;
  const next: Sort = sort === "file" ? "object" : "file";
  const isSorted = sort === "file" || sort === "object";
  return (
    <th
      scope="col"
      class="location-head"
      aria-sort={isSorted ? (place.value.ascending ? "ascending" : "descending") : undefined}
    >
      <span class="resizable">
        <button title="Sort by file, then by object" onClick={() => go({ sort: next, ascending: true })}>
          {sort === "object" ? "Object" : sort === "file" ? "File" : "Location"}
          {isSorted ? " ▲" : ""}
        </button>
      </span>
    </th>
  );
}

function FunctionLine({
  row,
  index,
  group,
  filter,
  hasCounts,
}: {
  row: FunctionRow;
  index: number;
  group: Group;
  filter: string;
  hasCounts: boolean;
}) {
  return (
    <tr
      id={`row-${row.id}`}
      aria-rowindex={index + 2}
      aria-selected={row.id !== null && row.id === selected.value}
      onContextMenu={(e) => openMenu(e, row)}
    >
      {shownEvents.value.map((name) => (
        <Costs key={name} row={row} name={name} />
      ))}
      {hasCounts ? <td class="num call-count">{callCount(row)}</td> : null}
      {hasCounts ? (
        <td class="num per-call">
          {row.inclusive_estimated ? "~" : ""}
          {perCall(row.inclusive[eventName.value], row.calls)}
        </td>
      ) : null}
      <td>
        {row.id === null && group !== "function" ? (
          <button
            class="name fn"
            title={`Only the functions of ${visible(row.name)}`}
            onClick={() => go({ within: `${group}:${row.name}`, group: "function", filter: "" })}
          >
            <WithMark text={visible(row.name)} filter={filter} />
          </button>
        ) : (
          <Name row={row} bare filter={filter} />
        )}
        <Marked name={row.name} filter={filter} />
      </td>
      {group === "function" ? (
        <td class="location" title={`${visible(row.file)}\n${visible(row.object)}`}>
          {[base(row.file), base(row.object)].filter((part) => part !== "").join(" · ")}
        </td>
      ) : null}
    </tr>
  );
}

function Costs({ row, name }: { row: FunctionRow; name: string }) {
  return (
    <>
      <td class="num">
        <Cost costs={row.self} event={name} estimate={row.self_estimated} />
      </td>
      <td class="num">
        <Cost
          costs={row.inclusive}
          event={name}
          estimate={row.inclusive_estimated}
          bound={row.inclusive_is_upper_bound}
        />
      </td>
    </>
  );
}

/** The choice of rows and the filter, which the comparison has too. */
export function RowTools() {
  const { group, filter, within } = place.value;
  return (
    <>
      <label>
        Rows{" "}
        <select value={group} onChange={(e) => go({ group: e.currentTarget.value as Group, within: "" })}>
          {GROUPS.map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <input
        class="filter"
        type="search"
        placeholder="Filter: text or pattern ( / )"
        aria-label="Filter by name"
        value={filter}
        onInput={(e) => go({ filter: e.currentTarget.value }, true)}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown" || e.key === "Enter") {
            e.preventDefault();
            goToTable("ArrowDown");
          } else if (e.key === "Escape" && filter === "") {
            e.currentTarget.blur();
          }
        }}
      />
      {within ? (
        <button onClick={() => go({ within: "" })} aria-label="Remove the group">
          in {visible(within.slice(within.indexOf(":") + 1))} ×
        </button>
      ) : null}
    </>
  );
}

function Tools({
  answer,
  whole,
}: {
  answer: FunctionsPage | null;
  whole: () => FunctionsPage | Promise<FunctionsPage>;
}) {
  const events = shownEvents.value;
  const cells = (page: FunctionsPage) => [
    [...events.flatMap((name) => [`self ${name}`, `inclusive ${name}`]), "calls", "name", "file", "object"],
    ...page.rows.map((row) => [
      ...events.flatMap((name) => [row.self[name], row.inclusive[name]]),
      row.calls,
      row.name,
      row.file,
      row.object,
    ]),
  ];
  const rows = () => mapped(whole(), cells);
  return (
    <div class="tools">
      <RowTools />
      {answer ? (
        <>
          <span class="dim" role="status">
            {grouped(answer.all)} {answer.all === 1 ? "row" : "rows"}, self{" "}
            {grouped(answer.matched[eventName.value])} (
            {percentOf(answer.matched[eventName.value], total.value)})
          </span>
          <Export name="functions" json={whole} rows={rows} />
        </>
      ) : null}
    </div>
  );
}
