// Frames and tiles of a comparison as boxes of a picture: blue costs less, orange costs more.
import type { Change, ChangedFlame, ChangedFunction } from "../answers";
import { grouped, percentOf, share, signed, visible } from "../format";
import { namedOrNone, place, type FunctionKey } from "../place";
import { eventName, isSelectedRow, joined, type Row } from "../state";
import { changeToken } from "./colours";
import { relativeChange, sidesOf } from "./cost";
import { frameBoxes, frameName, functionOf, type FramePlacing } from "./frames";
import type { Box } from "./picture";

/** The function that pictures begin with, of either side. */
export function changedRoot(): FunctionKey | null {
  const { rootName, rootFile, rootObject } = place.value;
  return namedOrNone({ name: rootName, file: rootFile, object: rootObject });
}

/** The total before, that changes are shares of. */
export function totalBefore(answer: Pick<ChangedFlame, "totals">): number | string {
  return sidesOf(answer.totals[eventName.value])?.base ?? 0;
}

export function rowOf(at: ChangedFunction | undefined): Row | undefined {
  return at && joined(at);
}

export const NO_CHANGE: Change = { base: 0, new: 0, change: 0 };

/** A change as a sentence. */
export function sayChange(what: string, change: Change, total: number | string, kind = "inclusive"): string {
  const relative = relativeChange(change);
  return (
    `${what}: ${grouped(change.base)} → ${grouped(change.new)} ${eventName.value} ${kind}, ` +
    `${signed(change.change)}${relative ? ` (${relative})` : ""}, ${percentOf(change.change, total)} of the total before`
  );
}

/** The share of a box that its later side does not have. */
export function missingOf(change: Change): number {
  const shown = Number(change.new);
  const larger = Math.max(Number(change.base), shown);
  return larger > 0 ? Math.max(0, 1 - shown / larger) : 0;
}

/** Frames as boxes, in the order of the answer. */
export function changedBoxes(answer: ChangedFlame, placing: FramePlacing): Box[] {
  const event = eventName.value;
  const total = totalBefore(answer);
  return frameBoxes(answer, placing, (index, at) => {
    const change = sidesOf(answer.inclusive[index]![event]) ?? NO_CHANGE;
    const hidden = answer.hidden[index] ?? 0;
    const before = at?.base_name ? ` (before: ${visible(at.base_name)})` : "";
    return {
      colour: changeToken(share(change.change, total)),
      isSelected: at !== undefined && isSelectedRow(joined(at)),
      missing: missingOf(change),
      say:
        sayChange(frameName(answer, index) + before, change, total) +
        (answer.is_guessed[index] ? "; estimate" : "") +
        (hidden > 0 ? `; ${grouped(hidden)} or more frames on it are not known on both sides` : ""),
    };
  });
}

/** The rows of a picture of frames, for a table elsewhere. */
export function changedFrameRows(answer: ChangedFlame): (string | number | null | undefined)[][] {
  const event = eventName.value;
  return [
    ["level", "function", "before", "after", "change"],
    ...answer.function.map((_, index) => {
      const change = sidesOf(answer.inclusive[index]![event]);
      const name = functionOf(answer, index)?.name ?? `${answer.merged[index]} narrow frames`;
      return [answer.depth[index], name, change?.base, change?.new, change?.change];
    }),
  ];
}
