// Costs, changes and names, the same in all tables.
import { useContext, useLayoutEffect, useRef } from "preact/hooks";
import { openFunction } from "../actions";
import type { Change, Changes, Costs, Exact } from "../answers";
import { base, grouped, negated, percent, percentOf, share, signed, visible } from "../format";
import { distinct } from "../names";
import { place, type View } from "../place";
import { changedTotals, eventName, isSelectedRow, select, wholeOf, type Row } from "../state";
import { WithMark } from "./marked";
import { openMenu } from "./menu";
import { Names, useRoom } from "./room";

/** Sets a width through the object model: the policy of the page allows no style attribute. */
export function Bar({ fraction, kind }: { fraction: number; kind?: string }) {
  const ref = useRef<HTMLSpanElement>(null);
  const width = Math.max(0, Math.min(1, fraction));
  useLayoutEffect(() => {
    if (ref.current) ref.current.style.width = `${width * 100}%`;
  }, [width]);
  return (
    <span class={`bar ${kind ?? ""}`} aria-hidden="true">
      <span ref={ref} />
    </span>
  );
}

export interface CostOptions {
  costs: Costs | null | undefined;
  /** The event type; the first one without. */
  event?: string;
  /** The number that is 100%. */
  whole?: Exact | undefined;
  estimate?: boolean | undefined;
  /** The cost is an upper bound. */
  bound?: boolean | undefined;
  bar?: boolean;
  /** Levels of a recursion overlap: their sum has no share. */
  inner?: boolean;
}

const ESTIMATE = "an estimate: the profile does not determine it";

/** The reason why an inclusive cost is only a limit, as the reports give it. */
export function boundReason(): string {
  const { view, group, cycles } = place.value;
  if (view === "functions" && group !== "function" && group !== "cycle")
    return "at most: calls may come back to the group from functions that others call, too, and count each time";
  return cycles
    ? "at most the total: the costs of its calls add up to more"
    : "at most: calls of a recursion count what they have in common more than once, or calls add up to more than the total";
}

/** A cost with its share and a bar behind it. */
export function Cost({ costs, event, whole, estimate, bound, bar = true, inner }: CostOptions) {
  const name = event ?? eventName.value;
  const value = costs?.[name];
  if (value === undefined || value === null) return <span class="faint">–</span>;
  const of = whole ?? wholeOf(name);
  const classes = ["cost", Number(value) === 0 ? "faint" : "", estimate ? "estimate" : ""];
  const mark = bound ? "≤" : estimate ? "~" : "";
  return (
    <span class={classes.join(" ")} title={bound ? boundReason() : estimate ? ESTIMATE : undefined}>
      {bar && !inner ? <Bar fraction={share(value, of)} /> : null}
      <span class="number">
        {mark}
        {grouped(value)}
      </span>
      <span class="share" title={inner ? "Levels of a recursion overlap: their sum has no share" : undefined}>
        {inner ? "–" : percentOf(value, of)}
      </span>
    </span>
  );
}

/** Both sides of a change, as the page shows them: swapped if that is set. */
export function sidesOf(change: Change | null | undefined): Change | null {
  if (!change) return null;
  if (!place.value.swapped) return change;
  return { base: change.new, new: change.base, change: negated(change.change) };
}

/** "worse" costs more. */
export function direction(change: Change | null): "worse" | "better" | "same" {
  const value = Number(change?.change ?? 0);
  return value > 0 ? "worse" : value < 0 ? "better" : "same";
}

/** The change in words for a side without cost, else in percent of the cost before. */
export function relativeChange(change: Change): string {
  if (Number(change.base) === 0) return Number(change.new) === 0 ? "" : "new";
  if (Number(change.new) === 0) return "gone";
  const fraction = share(change.change, change.base);
  return fraction > 0 ? `+${percent(fraction)}` : percent(fraction);
}

/** A change with arrow, sign and share of the cost before. */
export function ChangeCost({ changes, event }: { changes: Changes | undefined; event?: string }) {
  const change = sidesOf(changes?.[event ?? eventName.value]);
  return <ChangeNumber change={change} />;
}

export function ChangeNumber({
  change,
  estimate,
  isCount,
}: {
  change: Change | null;
  estimate?: boolean | undefined;
  isCount?: boolean;
}) {
  if (!change) return <span class="faint">–</span>;
  const relative = relativeChange(change);
  const total = sidesOf(changedTotals.value?.[eventName.value])?.base;
  const tips = [
    estimate ? ESTIMATE : "",
    relative.endsWith("%") ? `${relative} of the ${isCount ? "count" : "cost"} before` : "",
    isCount ? "" : `${percentOf(change.change, total)} of the total before`,
  ];
  const way = direction(change);
  const arrow = way === "worse" ? "▲" : way === "better" ? "▼" : "";
  return (
    <span
      class={`cost change ${way === "same" ? "faint" : way} ${estimate ? "estimate" : ""}`}
      title={tips.filter((tip) => tip !== "").join("; ")}
    >
      <span class="number">
        {arrow} {estimate ? "~" : ""}
        {signed(change.change)}
      </span>
      <span class="share">{relative}</span>
    </span>
  );
}

/** A function as a button: a click selects it, in another view if one is given. What a filter matches is marked. */
export function Name({
  row,
  view,
  bare,
  filter,
}: {
  row: Row;
  view?: View;
  bare?: boolean;
  filter?: string;
}) {
  // A name that is too long is shortened by meaning; its title has all of it.
  const { ref, characters, isAlone } = useRoom(row.name);
  const others = useContext(Names);
  const at = base(row.file) || base(row.object);
  const text = (
    <>
      <span class="fn">
        <WithMark text={distinct(row.name, characters, others)} filter={filter ?? ""} />
      </span>
      {at && !bare && !isAlone ? <span class="at">{at}</span> : null}
    </>
  );
  if (row.id === null)
    return (
      <span class="name" ref={ref}>
        {text}
      </span>
    );
  return (
    <button
      class="name"
      ref={ref}
      title={[row.name, row.file, row.object]
        .filter((part) => part !== "")
        .map(visible)
        .join("\n")}
      aria-current={isSelectedRow(row) ? "true" : undefined}
      onClick={() => select(row, view)}
      onDblClick={() => openFunction(row)}
      onContextMenu={(e) => openMenu(e, row)}
    >
      {text}
    </button>
  );
}
