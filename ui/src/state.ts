import { computed, effect, signal } from "@preact/signals";
import type { Answers, Group, Named, Question, Scope, Sort, Summary } from "./answers";
import { HttpTransport, type Transport } from "./transport";

export const VIEWS = [
  ["overview", "Overview"],
  ["functions", "Functions"],
  ["flame", "Flame graph"],
  ["tree", "Call tree"],
  ["callers", "Callers and callees"],
  ["graph", "Call graph"],
  ["treemap", "Treemap"],
  ["source", "Source"],
  ["assembly", "Machine code"],
  ["parts", "Parts"],
  ["findings", "Findings"],
  ["compare", "Compare"],
] as const;
export type View = (typeof VIEWS)[number][0];

/** All that an address says. Every view is a function of it. */
export interface Place {
  view: View;
  event: string;
  function: number | null;
  name: string;
  file: string;
  object: string;
  filter: string;
  group: Group;
  sort: Sort;
  ascending: boolean;
  within: string;
  from: number | null;
  inverted: boolean;
  order: "cost" | "name";
  inclusive: boolean;
  parts: string;
  hide: string;
  focus: string;
  fold: boolean;
  cycles: boolean;
  around: boolean;
  source: string;
}
const START: Place = {
  view: "overview",
  event: "",
  function: null,
  name: "",
  file: "",
  object: "",
  filter: "",
  group: "function",
  sort: "self_cost",
  ascending: false,
  within: "",
  from: null,
  inverted: false,
  order: "cost",
  inclusive: true,
  parts: "",
  hide: "",
  focus: "",
  fold: false,
  cycles: true,
  around: true,
  source: "",
};
const KEYS: Record<keyof Place, string> = {
  view: "view",
  event: "e",
  function: "id",
  name: "f",
  file: "ff",
  object: "fo",
  filter: "q",
  group: "g",
  sort: "s",
  ascending: "asc",
  within: "in",
  from: "z",
  inverted: "inv",
  order: "o",
  inclusive: "i",
  parts: "p",
  hide: "hide",
  focus: "focus",
  fold: "fold",
  cycles: "cyc",
  around: "around",
  source: "src",
};

/** Reads an address. Unknown keys are kept. */
function parse(hash: string): { place: Place; unknown: [string, string][] } {
  const place: Place = { ...START };
  const unknown: [string, string][] = [];
  const byKey = new Map(Object.entries(KEYS).map(([name, key]) => [key, name as keyof Place]));
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const name = byKey.get(key);
    if (key === "v" || key === "token") continue;
    if (name === undefined) {
      unknown.push([key, value]);
      continue;
    }
    const fallback = START[name];
    const target = place as unknown as Record<string, unknown>;
    if (typeof fallback === "boolean") target[name] = value === "1";
    else if (name === "function" || name === "from") {
      const id = Number(value);
      target[name] = value !== "" && Number.isInteger(id) && id >= 0 ? id : null;
    } else target[name] = value;
  }
  if (!VIEWS.some(([view]) => view === place.view)) place.view = "overview";
  return { place, unknown };
}

function write(place: Place, unknown: [string, string][]): string {
  const params = new URLSearchParams([["v", "1"]]);
  for (const name of Object.keys(KEYS) as (keyof Place)[]) {
    const value = place[name];
    if (value !== START[name] || name === "view")
      params.set(KEYS[name], typeof value === "boolean" ? (value ? "1" : "0") : String(value ?? ""));
  }
  for (const [key, value] of unknown) params.append(key, value);
  return `#${params}`;
}

const token =
  new URLSearchParams(location.hash.slice(1)).get("token") ??
  (/^#[0-9A-Za-z_-]{16,}$/.test(location.hash) ? location.hash.slice(1) : null);
const initial = token !== null && !location.hash.includes("=") ? parse("") : parse(location.hash);
let unknownKeys = initial.unknown;
export const place = signal<Place>(initial.place);
if (token !== null) history.replaceState(null, "", write(initial.place, unknownKeys));
addEventListener("popstate", () => {
  const read = parse(location.hash);
  unknownKeys = read.unknown;
  place.value = read.place;
});

/** Goes elsewhere: a step of the history, or none while somebody types. */
export function go(change: Partial<Place>, replace = false): void {
  const next = { ...place.value, ...change };
  const hash = write(next, unknownKeys);
  if (hash !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", hash);
  place.value = next;
}

/** Selects a function, in a view or in this one. */
export function select(
  row: Named | { id: number | null; name: string; file: string; object: string },
  view?: View,
): void {
  if (row.id === null) return;
  go({
    function: row.id,
    name: row.name,
    file: row.file,
    object: row.object,
    source: "",
    ...(view ? { view } : {}),
  });
}

const transport: Transport = new HttpTransport(token);
export const summary = signal<Summary | null>(null);
export const failure = signal("");
export const hover = signal("");
export const announce = signal("");
export const overlay = signal<"" | "palette" | "help">("");
export const isBusy = signal(0);

export const eventName = computed(() => place.value.event || (summary.value?.event_types[0]?.name ?? ""));
export const event = computed(() => summary.value?.event_types.find((type) => type.name === eventName.value));
export const total = computed(() => summary.value?.head.totals[eventName.value] ?? event.value?.total ?? 0);
export const scope = computed<Scope>(() => {
  const { parts, hide, focus, fold, cycles, event } = place.value;
  return {
    events: event ? [event] : [],
    derive: [],
    parts,
    threads: "",
    processes: "",
    hide,
    focus,
    cuts: [],
    no_cycles: !cycles,
    fold_recursion: fold,
    fold_callers: false,
  };
});
/** The scope as text: answers are the same as long as it is. */
export const scopeKey = computed(() => JSON.stringify(scope.value));

const cache = new Map<string, unknown>();
/** Asks, or remembers a recent answer. */
export async function ask<Q extends Question>(question: Q, signal: AbortSignal): Promise<Answers[Q["kind"]]> {
  const key = scopeKey.value + JSON.stringify(question);
  const known = cache.get(key);
  if (known !== undefined) {
    cache.delete(key);
    cache.set(key, known);
    return known as Answers[Q["kind"]];
  }
  isBusy.value = isBusy.peek() + 1; // peek: an effect that asks must not follow what it changes
  try {
    const answer = await transport.ask({ scope: scope.value, question }, signal);
    cache.set(key, answer);
    if (cache.size > 40) cache.delete(cache.keys().next().value!);
    return answer as Answers[Q["kind"]];
  } finally {
    isBusy.value = isBusy.peek() - 1;
  }
}

/** Theme: that of the system, or by hand. */
export const theme = signal<"auto" | "light" | "dark">(
  (localStorage.getItem("gristmill.theme") as "light" | "dark" | null) ?? "auto",
);
const darkQuery = matchMedia("(prefers-color-scheme: dark)");
export const systemDark = signal(darkQuery.matches);
darkQuery.addEventListener("change", () => {
  systemDark.value = darkQuery.matches;
});
export const isDark = computed(() => theme.value === "dark" || (theme.value === "auto" && systemDark.value));
effect(() => {
  document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
  if (theme.value === "auto") localStorage.removeItem("gristmill.theme");
  else localStorage.setItem("gristmill.theme", theme.value);
});
effect(() => {
  void scopeKey.value;
  const control = new AbortController();
  ask({ kind: "summary" }, control.signal).then(
    (answer) => {
      summary.value = answer;
      failure.value = "";
      document.title = `${answer.head.title || answer.files[0]?.name || "profile"} – Gristmill`;
    },
    (error: Error) => {
      if (!control.signal.aborted) failure.value = error.message;
    },
  );
  return () => control.abort();
});
