// The address: everything that it says. Every view is a function of it.
import { signal } from "@preact/signals";
import type { Group, Sort } from "./answers";

export const VIEWS = [
  ["overview", "Overview"],
  ["functions", "Functions"],
  ["flame", "Flame graph"],
  ["sandwich", "Sandwich"],
  ["tree", "Call tree"],
  ["callers", "Callers, callees"],
  ["graph", "Call graph"],
  ["treemap", "Treemap"],
  ["source", "Source"],
  ["assembly", "Machine code"],
  ["parts", "Parts"],
  ["findings", "Findings"],
  ["compare", "Compare"],
] as const;
export type View = (typeof VIEWS)[number][0];

/** A function as a link names it: ids are those of one loaded profile. */
export interface FunctionKey {
  name: string;
  file: string;
  object: string;
}

/** A function of the address as questions on changes have it; null for none. */
export function namedOrNone({ name, file, object }: FunctionKey): FunctionKey | null {
  return name === "" ? null : { name, file, object };
}

export type Sides = "all" | "worse" | "better" | "new" | "gone";
export type Colours = "auto" | "object" | "file" | "namespace" | "self" | "ratio";

export interface Place extends FunctionKey {
  view: View;
  /** The id of the function if others have its name, file and object, too; "" otherwise. */
  twin: string;
  /** The first event type, which decides all orders; "" for the first recorded one. */
  event: string;
  /** An event type beside the first; "" for none. */
  second: string;
  /** Event types by formula, one a line. */
  derive: string;
  filter: string;
  group: Group;
  sort: Sort;
  ascending: boolean;
  /** A group to which the rows belong, `kind:name`. */
  within: string;
  /** The function that pictures and trees begin with; an empty name for the program. */
  rootName: string;
  rootFile: string;
  rootObject: string;
  /** The names from below the root of the flame graph to the zoomed frame, one a line. */
  zoom: string;
  inverted: boolean;
  order: "cost" | "name";
  colours: Colours;
  /** The root of the flame graph is at the bottom. */
  upward: boolean;
  /** Only callers are shown by the treemap. */
  callers: boolean;
  parts: string;
  threads: string;
  processes: string;
  /** Patterns of functions whose cost counts for their callers, one a line. */
  hide: string;
  focus: string;
  /** Patterns of functions that are left out with what they call, one a line. */
  drop: string;
  /** Calls to cut, `CALLER -> CALLEE`, one a line. */
  cuts: string;
  fold: boolean;
  foldCallers: boolean;
  cycles: boolean;
  /** Percentages are of the selected function's inclusive cost, not of the total. */
  relative: boolean;
  around: boolean;
  cluster: Group;
  nodes: string;
  callerDepth: string;
  calleeDepth: string;
  minShare: string;
  source: string;
  asTable: boolean;
  /** All views show the changes since the base. */
  compare: boolean;
  /** The sides of the comparison are swapped. */
  swapped: boolean;
  sides: Sides;
}

/** The place of a page that was opened now. */
export const START: Place = {
  view: "overview",
  event: "",
  second: "",
  derive: "",
  name: "",
  file: "",
  object: "",
  twin: "",
  filter: "",
  group: "function",
  sort: "self_cost",
  ascending: false,
  within: "",
  rootName: "",
  rootFile: "",
  rootObject: "",
  zoom: "",
  inverted: false,
  order: "cost",
  colours: "auto",
  upward: false,
  callers: false,
  parts: "",
  threads: "",
  processes: "",
  hide: "",
  focus: "",
  drop: "",
  cuts: "",
  fold: false,
  foldCallers: false,
  cycles: true,
  relative: false,
  around: true,
  cluster: "function",
  nodes: "40",
  callerDepth: "2",
  calleeDepth: "6",
  minShare: "10",
  source: "",
  asTable: false,
  compare: false,
  swapped: false,
  sides: "all",
};

/** The keys of the address. Links keep working only as long as they stay. */
const KEYS: Record<keyof Place, string> = {
  view: "view",
  event: "e",
  second: "e2",
  derive: "derive",
  name: "f",
  file: "ff",
  object: "fo",
  twin: "fi",
  filter: "q",
  group: "g",
  sort: "s",
  ascending: "asc",
  within: "in",
  rootName: "z",
  rootFile: "zf",
  rootObject: "zo",
  zoom: "zp",
  inverted: "inv",
  order: "o",
  colours: "col",
  upward: "up",
  callers: "cr",
  parts: "p",
  threads: "th",
  processes: "pid",
  hide: "hide",
  focus: "focus",
  drop: "drop",
  cuts: "cut",
  fold: "fold",
  foldCallers: "fc",
  cycles: "cyc",
  relative: "rel",
  around: "around",
  cluster: "cl",
  nodes: "n",
  callerDepth: "d1",
  calleeDepth: "d2",
  minShare: "min",
  source: "src",
  asTable: "t",
  compare: "cmp",
  swapped: "x",
  sides: "side",
};
const NAMES_BY_KEY = new Map(Object.entries(KEYS).map(([name, key]) => [key, name as keyof Place]));
/** Only these texts may stand for a choice; anything else is the default. */
const CHOICES: Partial<Record<keyof Place, readonly string[]>> = {
  view: VIEWS.map(([view]) => view),
  group: ["function", "object", "file", "directory", "class", "crate", "package", "cycle"],
  cluster: ["function", "object", "file", "directory", "class", "crate", "package"],
  sort: ["self_cost", "inclusive", "calls", "per_call", "name", "object", "file"],
  order: ["cost", "name"],
  colours: ["auto", "object", "file", "namespace", "self", "ratio"],
  sides: ["all", "worse", "better", "new", "gone"],
};

/** Reads an address. Unknown keys are kept. */
function parse(hash: string): { place: Place; unknown: [string, string][] } {
  const place: Place = { ...START };
  const unknown: [string, string][] = [];
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (key === "v" || key === "token") continue;
    const name = NAMES_BY_KEY.get(key);
    if (name === undefined) unknown.push([key, value]);
    else if (typeof START[name] === "boolean") Object.assign(place, { [name]: value === "1" });
    else if (CHOICES[name]?.includes(value) ?? true) Object.assign(place, { [name]: value });
  }
  return { place, unknown };
}

function write(place: Place, unknown: [string, string][]): string {
  const params = new URLSearchParams([["v", "1"]]);
  for (const name of Object.keys(KEYS) as (keyof Place)[]) {
    const value = place[name];
    if (value === START[name] && name !== "view") continue;
    params.set(KEYS[name], typeof value === "boolean" ? (value ? "1" : "0") : value);
  }
  for (const [key, value] of unknown) params.append(key, value);
  return `#${params}`;
}

/** The token of the address: `#token=…`, or the whole fragment. */
function tokenOf(hash: string): string | null {
  const named = new URLSearchParams(hash.slice(1)).get("token");
  return named ?? (/^#[0-9A-Za-z_-]{16,}$/.test(hash) ? hash.slice(1) : null);
}

export const token = tokenOf(location.hash);
const isBareToken = token !== null && !location.hash.includes("=");
const initial = parse(isBareToken ? "" : location.hash);
let unknownKeys = initial.unknown;
export const place = signal<Place>(initial.place);
// The token must not stay in the history or in a copied address.
if (token !== null) history.replaceState(null, "", write(initial.place, unknownKeys));
addEventListener("popstate", () => {
  const read = parse(location.hash);
  unknownKeys = read.unknown;
  place.value = read.place;
});

/** Browsers refuse addresses beyond 2 MB, and become slow before. */
const MAX_ADDRESS = 200_000;
const NAMELESS: Partial<Place> = {
  name: "",
  file: "",
  object: "",
  rootName: "",
  rootFile: "",
  rootObject: "",
  zoom: "",
  hide: "",
  focus: "",
  drop: "",
  cuts: "",
};

/** Goes elsewhere: a step of the history, or none while somebody types. */
export function go(change: Partial<Place>, replace = false): void {
  const next = { ...place.value, ...change };
  const whole = write(next, unknownKeys);
  // Names can be longer than an address may be: then it has everything except names.
  const hash = whole.length < MAX_ADDRESS ? whole : write({ ...next, ...NAMELESS }, unknownKeys);
  if (hash !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", hash);
  place.value = next;
}

/** The address of the current view, behind `#`. */
export function address(): string {
  return write(place.value, unknownKeys).slice(1);
}

/** Goes to an address that was saved. */
export function goTo(saved: string): void {
  const read = parse(saved);
  unknownKeys = read.unknown;
  go(read.place);
}

/** The lines of a setting that has one thing a line. */
export function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** The settings that undo everything which narrows the views, or what 100% is. */
export const UNNARROWED: Partial<Place> = {
  focus: "",
  drop: "",
  hide: "",
  cuts: "",
  parts: "",
  threads: "",
  processes: "",
  filter: "",
  within: "",
  rootName: "",
  rootFile: "",
  rootObject: "",
  zoom: "",
  fold: false,
  foldCallers: false,
  cycles: true,
  relative: false,
};
