// Frames and tiles of a comparison as boxes of a picture: blue costs less, orange costs more.
import type { Change, ChangedFlame, ChangedFunction } from "../answers";
import { grouped, percentOf, share, signed, visible } from "../format";
import { place, type FunctionKey } from "../place";
import { eventName, isSelectedRow, joined, type Row } from "../state";
import { changeToken } from "./colours";
import { relativeChange, sidesOf } from "./cost";
import { ROW, type Window } from "./frames";
import type { Box } from "./picture";

/** A function of the address as questions on changes have it; null for none. */
export function namedOrNone({ name, file, object }: FunctionKey): FunctionKey | null {
  return name === "" ? null : { name, file, object };
}

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

/** The function of a frame; undefined for merged ones. */
export function changedFunctionOf(answer: ChangedFlame, index: number): ChangedFunction | undefined {
  const at = answer.function[index] ?? -1;
  return at < 0 ? undefined : answer.functions[at];
}

export interface ChangedFrameOptions {
  width: number;
  window: Window;
  pattern: RegExp | null;
  zoomDepth: number;
  top: (depth: number) => number;
}

/** Frames as boxes, in the order of the answer. */
export function changedBoxes(answer: ChangedFlame, options: ChangedFrameOptions): Box[] {
  const { width, window, pattern, zoomDepth } = options;
  const event = eventName.value;
  const total = totalBefore(answer);
  const scale = width / (window.to - window.from);
  const isMatch = answer.function.map((_, index) => {
    const at = changedFunctionOf(answer, index);
    return pattern !== null && at !== undefined && pattern.test(at.name);
  });
  const leadsToMatch = [...isMatch];
  for (let index = isMatch.length - 1; index > 0; index--) {
    const parent = answer.parent[index]!;
    if (leadsToMatch[index] && parent >= 0) leadsToMatch[parent] = true;
  }
  return answer.function.map((group, index) => {
    const at = changedFunctionOf(answer, index);
    const change = sidesOf(answer.inclusive[index]![event]) ?? NO_CHANGE;
    const name = at ? visible(at.name) : `${grouped(answer.merged[index])} narrow frames`;
    const hidden = answer.hidden[index] ?? 0;
    const before = at?.base_name ? ` (before: ${visible(at.base_name)})` : "";
    return {
      x: (answer.x[index]! - window.from) * scale,
      y: options.top(answer.depth[index]!),
      width: answer.width[index]! * scale,
      height: ROW,
      name,
      colour: changeToken(share(change.change, total)),
      isEstimate: answer.is_guessed[index]!,
      isSelected: at !== undefined && isSelectedRow(joined(at)),
      isMatch: isMatch[index]!,
      isDim: pattern !== null ? !leadsToMatch[index] : answer.depth[index]! < zoomDepth,
      missing: missingOf(change),
      parent: answer.parent[index]!,
      group,
      say:
        sayChange(name + before, change, total) +
        (answer.is_guessed[index] ? "; estimate" : "") +
        (hidden > 0 ? `; ${grouped(hidden)} or more frames on it are not known on both sides` : ""),
    };
  });
}

/** The names from below the root to a frame. */
export function changedPathTo(answer: ChangedFlame, index: number): string[] {
  const path: string[] = [];
  for (let at = index; at > 0; at = answer.parent[at]!) {
    path.unshift(changedFunctionOf(answer, at)?.name ?? "");
  }
  return path;
}

export function changedDepth(answer: ChangedFlame): number {
  return answer.depth.reduce((most, depth) => Math.max(most, depth), 0);
}

/** The rows of a picture of frames, for a table elsewhere. */
export function changedFrameRows(answer: ChangedFlame): (string | number | null | undefined)[][] {
  const event = eventName.value;
  return [
    ["level", "function", "before", "after", "change"],
    ...answer.function.map((_, index) => {
      const change = sidesOf(answer.inclusive[index]![event]);
      const name = changedFunctionOf(answer, index)?.name ?? `${answer.merged[index]} narrow frames`;
      return [answer.depth[index], name, change?.base, change?.new, change?.change];
    }),
  ];
}
