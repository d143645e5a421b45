// Frames of a flame graph as boxes of a picture. The library gives edges and widths as shares of the root.
import type { Costs, Flame } from "../answers";
import { callCount, grouped, percent, percentOf, share, visible } from "../format";
import type { Colours } from "../place";
import { costliest } from "../state";
import { changeToken, Groups, heatToken, isGroup } from "./colours";
import type { Box } from "./picture";

export const ROW = 20;

/** The first component of a qualified name: crate, namespace or package. */
export function namespaceOf(name: string): string {
  const plain = name.replace(/^<(.*?) as .*/, "$1").replace(/^[&<*]+/, "");
  const match = /^[A-Za-z_~][\w$-]*(?=(::|\.|\\|->|\/))/.exec(plain);
  return match?.[0] ?? "";
}

/** The share of the functions that one group may have for colours to tell functions apart. */
const MAX_GROUP_SHARE = 0.8;

/** The meaning of colours if it is automatic: the first that tells the functions apart; the self cost if none does. */
export function colourMeaning(
  functions: { name: string; file: string; object: string }[],
  chosen: Colours,
): Colours {
  if (chosen !== "auto") return chosen;
  const isTelling = (key: Colours) => {
    const counts = new Map<string, number>();
    for (const at of functions) {
      const group = keyOf(at, key);
      const name = group === "???" ? "" : group;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values()) <= functions.length * MAX_GROUP_SHARE;
  };
  return (["object", "file", "namespace"] as const).find(isTelling) ?? "self";
}

export function keyOf(at: { name: string; file: string; object: string }, colours: Colours): string {
  if (colours === "file") return at.file;
  if (colours === "namespace") return namespaceOf(at.name);
  return at.object;
}

/** The groups of functions, with the colours that the most expensive ones of the profile have in all views. */
export function groupsOf(
  functions: { name: string; file: string; object: string }[],
  colours: Colours,
): Groups {
  const costs = new Map<string, number>();
  for (const row of costliest.value) {
    const key = keyOf(row, colours);
    if (isGroup(key)) costs.set(key, (costs.get(key) ?? 0) + Number(Object.values(row.self)[0]));
  }
  const first = [...costs].sort(([, a], [, b]) => b - a).map(([key]) => key);
  return new Groups(
    functions.map((at) => keyOf(at, colours)),
    first,
  );
}

/** The window of a picture in shares of the root: all of it is 0 to 1. */
export interface Window {
  from: number;
  to: number;
}
export const WHOLE: Window = { from: 0, to: 1 };

/** Frames below this share of a pixel are merged by the library. */
const FRAMES_PER_PIXEL = 2;

/** The count of frames that a picture of this width and zoom can tell apart, in steps: each step asks again. */
export function resolutionOf(width: number, window: Window): number {
  const wanted = (width * FRAMES_PER_PIXEL) / (window.to - window.from);
  return Math.min(1 << 17, 2 ** Math.ceil(Math.log2(Math.max(400, wanted))));
}

/** Zooms a window around a share of its width, within the picture. */
export function zoomed(window: Window, factor: number, at: number): Window {
  const size = Math.min(1, (window.to - window.from) / factor);
  // The smallest frame of an answer is about 1/4000 of it: a closer look shows nothing new.
  const kept = Math.max(size, 1 / 2000);
  const centre = window.from + (window.to - window.from) * at;
  return moved({ from: centre - kept * at, to: centre + kept * (1 - at) }, 0);
}

/** Moves a window by a share of its width. */
export function moved(window: Window, by: number): Window {
  const size = window.to - window.from;
  const from = Math.max(0, Math.min(1 - size, window.from - by * size));
  return { from, to: from + size };
}

/** How frames are placed and marked. */
export interface FramePlacing {
  width: number;
  window: Window;
  pattern: RegExp | null;
  /** The levels above the zoomed frame: dimmed. */
  zoomDepth: number;
  /** The upper edge of a level. */
  top: (depth: number) => number;
}

export interface FrameOptions extends FramePlacing {
  event: string;
  second: string | null;
  whole: number | string;
  groups: Groups;
  colours: Colours;
  selected: number | null;
  /** Callers are below what they call: then frames have no self cost. */
  isInverted: boolean;
}

/** The lists that flame graphs have, of a profile or of a comparison. */
export interface FrameLists<Function> {
  functions: Function[];
  function: number[];
  parent: number[];
  depth: number[];
  x: number[];
  width: number[];
  is_guessed: boolean[];
  merged: number[];
}

/** The function of a frame; undefined for merged ones. */
export function functionOf<Function>(
  answer: Pick<FrameLists<Function>, "functions" | "function">,
  index: number,
): Function | undefined {
  const at = answer.function[index] ?? -1;
  return at < 0 ? undefined : answer.functions[at];
}

export function frameName(answer: FrameLists<{ name: string }>, index: number): string {
  const at = functionOf(answer, index);
  return at ? visible(at.name) : `${grouped(answer.merged[index])} narrow frames`;
}

/** The largest distance from the root. */
export function depthOf(answer: { depth: number[] }): number {
  return answer.depth.reduce((most, depth) => Math.max(most, depth), 0);
}

/** The names from below the root to a frame. */
export function pathTo(answer: FrameLists<{ name: string }>, index: number): string[] {
  const path: string[] = [];
  for (let at = index; at > 0; at = answer.parent[at]!) {
    path.unshift(functionOf(answer, at)?.name ?? "");
  }
  return path;
}

function ratioToken(costs: Costs, root: Costs, event: string, second: string): string {
  const usual = share(root[second], root[event]);
  const here = share(costs[second], costs[event]);
  if (usual === 0) return "--d3";
  // Twice the usual ratio is one step, ten times three.
  const factor = here / usual;
  if (factor > 1) return changeToken(factor >= 10 ? 1 : factor >= 4 ? 0.05 : factor >= 1.5 ? 0.005 : 0);
  return changeToken(-(factor <= 0.1 ? 1 : factor <= 0.25 ? 0.05 : factor <= 0.67 ? 0.005 : 0));
}

function colourOf(answer: Flame, index: number, options: FrameOptions): string {
  const at = functionOf(answer, index);
  if (!at) return "--g7";
  const { event, second, colours } = options;
  if (colours === "self")
    return heatToken(share(answer.self[index]![event], answer.inclusive[options.zoomDepth]?.[event]));
  if (colours === "ratio" && second)
    return ratioToken(answer.inclusive[index]!, answer.inclusive[0]!, event, second);
  return options.groups.token(keyOf(at, colours));
}

/** The sentence of a frame: its costs, of what they are shares, how certain they are. */
export function sentence(
  answer: Flame,
  index: number,
  { event, whole, isInverted }: { event: string; whole: number | string; isInverted: boolean },
): string {
  const at = functionOf(answer, index);
  const cost = answer.inclusive[index]![event];
  const guessed = answer.is_guessed[index] ? "~" : "";
  const parts = [
    `${frameName(answer, index)}: ${guessed}${grouped(cost)} ${event} inclusive, ${percentOf(cost, whole)} of all`,
    `${percent(answer.width[index]!)} of this picture`,
    isInverted
      ? ""
      : `self ${answer.is_self_guessed[index] ? "~" : ""}${grouped(answer.self[index]![event])}`,
    `${callCount(answer.calls[index]!)} calls`,
    at ? `all frames of it ${grouped(at.all[event])}` : "",
    guessed ? "estimate" : "",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** Frames as boxes, in the order of the answer; `of` says what each shows. */
export function frameBoxes<Function extends { name: string }>(
  answer: FrameLists<Function>,
  { width, window, pattern, zoomDepth, top }: FramePlacing,
  of: (index: number, at: Function | undefined) => Pick<Box, "colour" | "isSelected" | "missing" | "say">,
): Box[] {
  const scale = width / (window.to - window.from);
  const isMatch = answer.function.map((_, index) => {
    const at = functionOf(answer, index);
    return pattern !== null && at !== undefined && pattern.test(at.name);
  });
  // A frame with a match below it is not dimmed, so that the way to the match can be seen.
  const leadsToMatch = [...isMatch];
  for (let index = isMatch.length - 1; index > 0; index--) {
    const parent = answer.parent[index]!;
    if (leadsToMatch[index] && parent >= 0) leadsToMatch[parent] = true;
  }
  return answer.function.map((group, index) => ({
    x: (answer.x[index]! - window.from) * scale,
    y: top(answer.depth[index]!),
    width: answer.width[index]! * scale,
    height: ROW,
    name: frameName(answer, index),
    isEstimate: answer.is_guessed[index]!,
    isMatch: isMatch[index]!,
    isDim: pattern !== null ? !leadsToMatch[index] : answer.depth[index]! < zoomDepth,
    parent: answer.parent[index]!,
    group,
    ...of(index, functionOf(answer, index)),
  }));
}

/** Frames of a profile as boxes. */
export function boxesOf(answer: Flame, options: FrameOptions): Box[] {
  return frameBoxes(answer, options, (index, at) => ({
    colour: colourOf(answer, index, options),
    isSelected: at !== undefined && at.id !== null && at.id === options.selected,
    missing: 0,
    say: sentence(answer, index, options),
  }));
}

/** The frames that match and have no match above them: their costs do not overlap. */
export function outermostMatches(answer: Flame, pattern: RegExp): number[] {
  const isInside: boolean[] = [];
  const found: number[] = [];
  answer.function.forEach((_, index) => {
    const parent = answer.parent[index]!;
    const above = parent >= 0 && isInside[parent]!;
    const at = functionOf(answer, index);
    const matches = at !== undefined && pattern.test(at.name);
    isInside[index] = above || matches;
    if (matches && !above) found.push(index);
  });
  return found;
}

/** The pattern of a search: case counts only if it has a capital. Null if there is none or it is no pattern. */
export function searchPattern(text: string): { pattern: RegExp | null; problem: string } {
  if (text === "") return { pattern: null, problem: "" };
  try {
    return { pattern: new RegExp(text, /[A-Z]/.test(text) ? "" : "i"), problem: "" };
  } catch {
    return { pattern: null, problem: "not a valid pattern: escape ( [ * + ? with \\" };
  }
}

/** The frame that a path of names leads to; as far as the answer has it. */
export function frameAt(answer: Flame, path: string[]): number {
  let at = 0;
  for (const name of path) {
    const next = answer.parent.findIndex(
      (parent, index) => parent === at && functionOf(answer, index)?.name === name,
    );
    if (next < 0) break;
    at = next;
  }
  return at;
}
