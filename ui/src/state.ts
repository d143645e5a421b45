// What the page holds besides its address: answers, the selection, themes. Nothing here calculates a cost.
import { computed, effect, signal } from "@preact/signals";
import type { Answers, Changes, Exact, FunctionRow, Question, Scope, Show, Summary } from "./answers";
import { isUnfinished, patternOf } from "./format";
import { libraryOf } from "./opening";
import { go, lines, namedOrNone, place, START, type FunctionKey, type Place, type View } from "./place";

const library = libraryOf(() => loadAgain());
export const summary = signal<Summary | null>(null);
export const failure = signal("");
/** The text of the status strip: what the pointer is over. */
export const hover = signal("");
/** The text that screen readers speak. */
export const announce = signal("");
export const overlay = signal<"" | "palette" | "help" | "formula" | "views">("");
export const busyCount = signal(0);
/** Counts reloads of the files. Answers of an older generation are not shown again. */
export const generation = signal(0);
export const reloadProblem = signal("");

export const eventName = computed(() => place.value.event || (summary.value?.event_types[0]?.name ?? ""));
export const event = computed(() => summary.value?.event_types.find((type) => type.name === eventName.value));
/** The event types that tables show, the first decides. */
export const shownEvents = computed(() =>
  place.value.second && place.value.second !== eventName.value
    ? [eventName.value, place.value.second]
    : [eventName.value],
);

/**
 * `true` in views of lines, instructions and parts while functions are hidden, in focus or left out: what a part of the calls costs there is
 * not known, so these views show all of it.
 */
export const ignoresFunctions = computed(() => {
  const { view, hide, focus, drop } = place.value;
  return ["source", "assembly", "parts"].includes(view) && (hide !== "" || focus !== "" || drop !== "");
});

export function totalOf(name: string): Exact {
  const loaded = summary.value;
  const all = loaded?.event_types.find((type) => type.name === name)?.total ?? undefined;
  if (ignoresFunctions.value && all !== undefined) return all;
  return loaded?.head.totals[name] ?? loaded?.event_types.find((type) => type.name === name)?.total ?? 0;
}
export const total = computed(() => totalOf(eventName.value));
/** `true` if views show changes since the base. */
export const isComparing = computed(() => place.value.compare && summary.value?.base != null);

/** The views that show the new profile only, also while others show changes. */
const WITHOUT_CHANGES = new Set<View>(["overview", "assembly", "parts", "findings"]);
/** `true` if this view shows changes since the base. */
export const hasChanges = computed(() => {
  const { view } = place.value;
  return (
    summary.value?.base != null && (view === "compare" || (isComparing.value && !WITHOUT_CHANGES.has(view)))
  );
});

/** The scope that a place states. */
function scopeOf(at: Place): Scope {
  const second = at.second && at.second !== at.event ? [at.second] : [];
  // A second event type needs the first by name, which the summary knows.
  const first = at.event || (second.length > 0 ? eventName.value : "");
  return {
    events: first ? [first, ...second] : [],
    derive: lines(at.derive),
    parts: at.parts,
    threads: at.threads,
    processes: at.processes,
    hide: alternatives(lines(at.hide)),
    focus: at.focus,
    drop: alternatives(lines(at.drop)),
    cuts: lines(at.cuts),
    no_cycles: !at.cycles,
    fold_recursion: at.fold,
    fold_callers: at.foldCallers,
  };
}

export const scope = computed(() => scopeOf(place.value));
/** All of the profile. */
const EVERYTHING = scopeOf(START);
/** One pattern that matches what any of the patterns does. */
function alternatives(patterns: string[]): string {
  return patterns.length < 2 ? (patterns[0] ?? "") : patterns.map((one) => `(?:${one})`).join("|");
}
/** The scope as text: answers are the same as long as it is. */
export const scopeKey = computed(() => `${generation.value} ${JSON.stringify(scope.value)}`);
/** The part of the scope that ids depend on, as text. */
const idScope = computed(() => `${generation.value} ${place.value.fold} ${place.value.foldCallers}`);

const MAX_KEPT_ANSWERS = 40;
const kept = new Map<string, unknown>();

/** Asks, or takes a recent answer. */
export async function ask<Q extends Question>(
  question: Q,
  signal: AbortSignal,
  within: Scope = scope.value,
  isKept = true,
): Promise<Answers[Q["kind"]]> {
  const key = `${generation.peek()} ${JSON.stringify(within)} ${JSON.stringify(question)}`;
  const known = kept.get(key);
  if (known !== undefined) {
    kept.delete(key);
    kept.set(key, known);
    return known as Answers[Q["kind"]];
  }
  if ("filter" in question && isUnfinished(question.filter))
    throw new Error("The pattern is not finished: a bracket is open. A \\ before ( or [ makes it text.");
  busyCount.value = busyCount.peek() + 1; // peek: an effect that asks must not follow what it changes
  try {
    const answer = await library.ask({ scope: within, question }, signal);
    if (isKept) kept.set(key, answer);
    if (kept.size > MAX_KEPT_ANSWERS) kept.delete(kept.keys().next().value!);
    return answer as Answers[Q["kind"]];
  } finally {
    busyCount.value = busyCount.peek() - 1;
  }
}

/** The most rows that an answer may have. */
export const MAX_ANSWER_ROWS = 10_000;

/** A question for a page of a list. */
type PageQuestion = Extract<Question, { kind: "functions" | "changes_page" }>;

/** All rows of a list as one page: that which is there, if it has all of them. Else they are asked for, and not kept. */
export function allRows<Q extends PageQuestion>(
  question: Q,
  there: Answers[Q["kind"]],
  count: number,
): Answers[Q["kind"]] | Promise<Answers[Q["kind"]]> {
  if (there.rows.length >= count) return there;
  const [within, signal] = [scope.value, new AbortController().signal];
  return joinedPages((start) => ask({ ...question, start, count: MAX_ANSWER_ROWS }, signal, within, false));
}

/** All pages of a list. They must be those of one loading of the files: rows of two have nothing in common. */
async function joinedPages<P extends { rows: unknown[] }>(
  askPage: (start: number) => Promise<P>,
): Promise<P> {
  const loading = generation.peek();
  const pages: P[] = [];
  let start = 0;
  do {
    pages.push(await askPage(start));
    if (generation.peek() !== loading) throw new Error("the files were loaded again meanwhile");
    start += pages.at(-1)!.rows.length;
  } while (pages.at(-1)!.rows.length === MAX_ANSWER_ROWS);
  return { ...pages[0]!, rows: pages.flatMap((page) => page.rows) };
}

// ---- Functions by name: links hold names, questions hold ids.

const ids = new Map<string, number | null>();
/** A function among those that have its name, file and object. */
type Wanted = FunctionKey & { twin: string };
function idKey({ name, file, object, twin }: Wanted): string {
  return `${idScope.value} ${JSON.stringify([name, file, object, twin])}`;
}
function hasKey(row: FunctionKey, key: FunctionKey): boolean {
  return row.name === key.name && row.file === key.file && row.object === key.object;
}

/**
 * A function as rows have it. The id is null for what is no function, and undefined in rows of a comparison: their ids are those
 * of both profiles together, so only the names tell which function is meant.
 */
export type Row = FunctionKey & { id: number | null | undefined };

/** A row of a comparison, without its id. Groups and cycles have none. */
export function joined(row: FunctionKey & { id?: number | null }): Row {
  const { name, file, object } = row;
  return { name, file, object, id: row.id === undefined || row.id === null ? null : undefined };
}

/** `true` for the selected function. */
export function isSelectedRow(row: Row): boolean {
  if (typeof row.id === "number") return row.id === selected.value;
  return row.id === undefined && hasKey(row, place.value);
}

export const MAX_NAMESAKES = 50;
/** The question for the functions of a name, in any case of letters unless it has a capital one. */
function ofName(name: string, limit = MAX_NAMESAKES) {
  return { kind: "search" as const, text: patternOf(name, false), is_pattern: true, limit };
}

/** Remembers the id of a function that an answer named. */
export function learn(row: Row): void {
  if (typeof row.id !== "number") return;
  for (const twin of ["", String(row.id)]) ids.set(idKey({ ...row, twin }), row.id);
}

/** Finds a function. One that is typed in the address may have its name only: then it is the most expensive one. */
async function find(wanted: Wanted, signal: AbortSignal): Promise<number | null> {
  const { name, file, object, twin } = wanted;
  if (twin !== "") {
    const { functions } = await ask(ofName(name, MAX_ANSWER_ROWS), signal);
    const found = functions.find((one) => hasKey(one, wanted) && String(one.id) === twin);
    if (found) return found.id;
  }
  const exact = await ask({ kind: "find", name, file, object }, signal);
  if (exact.function !== null || file !== "" || object !== "") return exact.function;
  const text = patternOf(name, true);
  const found = await ask({ kind: "search", text, is_pattern: true, limit: 1 }, signal);
  return found.functions[0]?.id ?? null;
}

/** The id of a function: undefined until the answer is there, null if the profile has no such function. */
function idOf(key: () => Wanted) {
  const id = signal<number | null | undefined>(null);
  effect(() => {
    const wanted = key();
    if (wanted.name === "") {
      id.value = null;
      return;
    }
    const text = idKey(wanted);
    if (ids.has(text)) {
      id.value = ids.get(text) ?? null;
      return;
    }
    const control = new AbortController();
    id.value = undefined;
    find(wanted, control.signal).then(
      (found) => {
        ids.set(text, found);
        if (!control.signal.aborted) id.value = found;
      },
      () => {
        if (!control.signal.aborted) id.value = null;
      },
    );
    return () => control.abort();
  });
  return id;
}

const selectionKey = computed(() => {
  const { name, file, object, twin } = place.value;
  return JSON.stringify({ name, file, object, twin });
});
const rootKey = computed(() => {
  const { rootName, rootFile, rootObject } = place.value;
  return JSON.stringify({ name: rootName, file: rootFile, object: rootObject, twin: "" });
});
/** The id of the selected function. */
export const selected = idOf(() => JSON.parse(selectionKey.value) as Wanted);
/** The id of the function that pictures and trees begin with. */
export const root = idOf(() => JSON.parse(rootKey.value) as Wanted);
/** `true` if the address names a function that the profile does not have. */
export const isMissing = computed(() => place.value.name !== "" && selected.value === null);

/** Longer names would be too long a pattern. */
const MAX_SEARCHED_CHARACTERS = 1000;

type Found = FunctionKey & { id: number | null };
type Matches = readonly Found[] | undefined;

/** The functions of the whole profile that a pattern for a name matches: undefined until the answer is there, or without one. */
function matchesOf(key: () => FunctionKey) {
  const found = signal<Matches>(undefined);
  effect(() => {
    const { name } = key();
    void idScope.value;
    // A pattern stays where what is left out now comes back.
    const { fold: fold_recursion, foldCallers: fold_callers } = place.peek();
    const within = { ...EVERYTHING, fold_recursion, fold_callers };
    found.value = undefined;
    if (name === "" || name.length > MAX_SEARCHED_CHARACTERS) return;
    const control = new AbortController();
    ask(ofName(name), control.signal, within).then(
      ({ functions }) => {
        if (!control.signal.aborted) found.value = functions;
      },
      () => undefined, // The command then has the name only.
    );
    return () => control.abort();
  });
  return found;
}
function named(name: string, matches: Matches): Found[] {
  return matches?.filter((one) => one.name === name) ?? [];
}

const ofSelection = matchesOf(() => JSON.parse(selectionKey.value) as FunctionKey);
const ofRoot = matchesOf(() => JSON.parse(rootKey.value) as FunctionKey);
/** The functions that have the name of the selected one, with it: a command has to say which of them is meant. */
export const namesakes = computed(() => named(place.value.name, ofSelection.value));
export const namesakesOfRoot = computed(() => named(place.value.rootName, ofRoot.value));

/** `true` if a pattern for the selected function may match one whose name differs in the case of letters only. */
const caseMatters = computed(() => {
  const matches = ofSelection.value;
  const own = place.value.name;
  const differs = ({ name }: Found) => name !== own && !name.startsWith(`${own}'`);
  // The base may have other names.
  return (
    summary.value?.base != null ||
    matches === undefined ||
    matches.length === MAX_NAMESAKES ||
    matches.some(differs)
  );
});
/** A pattern that only this name matches. */
export function exactly(name: string): string {
  return patternOf(name, name !== place.value.name || caseMatters.value);
}

/** The id of the selected function as a text if others have its name, file and object; "" otherwise. */
export const twin = computed(() => {
  const id = selected.value;
  const isTwin = (one: Found) => hasKey(one, place.value) && one.id !== id;
  return typeof id === "number" && namesakes.value.some(isTwin) ? String(id) : "";
});
// The address names it then.
effect(() => {
  if (twin.value !== "" && place.peek().twin === "") go({ twin: twin.value }, true);
});

/** The question for the selected function in a comparison. */
export const changedFunction = computed(() => {
  const key = namedOrNone(place.value);
  return key && { kind: "changed_function" as const, function: key };
});

/** Selects a function, in a view or in this one. A walk by arrow keys is no step of the history. */
export function select(row: Row, view?: View, isWalk = false): void {
  if (row.id === null) return;
  learn(row);
  const isOther = typeof row.id === "number" && row.id !== selected.value;
  const hasSameKey = hasKey(row, place.value);
  if (hasSameKey && !isOther && view === undefined) return;
  const next = hasSameKey ? (isOther ? String(row.id) : place.value.twin) : "";
  const change = { name: row.name, file: row.file, object: row.object, twin: next, source: "" };
  go({ ...change, ...(view ? { view } : {}) }, isWalk);
}

/** Selects a function of which only the id and the name are known. */
export async function selectById(id: number, view?: View): Promise<void> {
  const answer = await ask(
    { kind: "function", function: id, depth: 1, limit: 30 },
    new AbortController().signal,
  );
  select(answer.function, view);
}

/** Begins pictures and trees with a function. */
export function startAt(row: Row, view?: View): void {
  learn(row);
  const change = { rootName: row.name, rootFile: row.file, rootObject: row.object, zoom: "" };
  go({ ...change, ...(view ? { view } : {}) });
}
export function startAtProgram(): void {
  go({ rootName: "", rootFile: "", rootObject: "", zoom: "" });
}

/** Costs, callers and callees of the selection. */
export const selection = signal<Show | null>(null);
export const selectionError = signal("");
effect(() => {
  const id = selected.value;
  void scopeKey.value;
  selectionError.value = "";
  if (id === null || id === undefined) {
    selection.value = null;
    return;
  }
  const control = new AbortController();
  ask({ kind: "function", function: id, depth: 1, limit: 30 }, control.signal).then(
    (answer) => {
      if (!control.signal.aborted) selection.value = answer;
    },
    (error: Error) => {
      if (control.signal.aborted) return;
      selection.value = null;
      selectionError.value = error.message;
    },
  );
  return () => control.abort();
});

/** The totals of both sides, while views show changes. */
export const changedTotals = signal<Changes | null>(null);
effect(() => {
  void scopeKey.value;
  if (!isComparing.value && !hasChanges.value) return;
  const control = new AbortController();
  const question = { group: "function", sort: "self_change", filter: "", limit: 1 } as const;
  ask({ kind: "changes", ...question }, control.signal).then(
    ({ totals }) => {
      if (!control.signal.aborted) changedTotals.value = totals;
    },
    () => undefined, // The view has the reason.
  );
  return () => control.abort();
});

/**
 * `true` if percentages are of the selection. One that is left out or merged into its callers has no cost of which there could be
 * percentages.
 */
export const isRelative = computed(
  () =>
    place.value.relative &&
    !ignoresFunctions.value &&
    Number(selection.value?.inclusive[eventName.value] ?? 0) !== 0,
);
/** The number that is 100%: the total, or the inclusive cost of the selection. */
export function wholeOf(name: string): Exact {
  const inclusive = isRelative.value ? selection.value?.inclusive[name] : undefined;
  return inclusive ?? totalOf(name);
}
export const whole = computed(() => wholeOf(eventName.value));
/** The thing that percentages are of, in words. */
export const wholeText = computed(() => {
  if (isRelative.value) return selection.value!.function.name;
  return place.value.relative && selection.value ? "the total: the selection has no cost here" : "the total";
});

const COLOURED = new Set<View>(["flame", "sandwich", "treemap"]);
const isColoured = computed(() => COLOURED.has(place.value.view) && summary.value !== null);
const MAX_COLOURED = 500;
/** The functions of the highest self cost, whatever is selected: pictures have their colours from them. */
export const costliest = signal<FunctionRow[]>([]);
effect(() => {
  void generation.value;
  if (!isColoured.value) return;
  const question = {
    group: "function",
    sort: "self_cost",
    ascending: false,
    filter: "",
    within: null,
  } as const;
  const control = new AbortController();
  ask({ kind: "functions", ...question, start: 0, count: MAX_COLOURED }, control.signal, EVERYTHING).then(
    ({ rows }) => {
      if (!control.signal.aborted) costliest.value = rows;
    },
    () => undefined, // The view has the reason.
  );
  return () => control.abort();
});

/** The functions of the current list, for `[` and `]`. */
export const list = signal<Row[]>([]);
export function stepInList(step: 1 | -1): void {
  const rows = list.value.filter((row) => row.id !== null);
  const at = rows.findIndex(isSelectedRow);
  const next = at < 0 ? (step > 0 ? rows[0] : rows.at(-1)) : rows[at + step];
  if (!next) return;
  select(next);
  announce.value = next.name;
}

// ---- Theme: that of the system, or by hand.

export type Theme = "auto" | "light" | "dark";
const THEME = "gristmill.theme";
export const theme = signal<Theme>((localStorage.getItem(THEME) as Theme | null) ?? "auto");
const darkQuery = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(darkQuery.matches);
darkQuery.addEventListener("change", () => {
  systemIsDark.value = darkQuery.matches;
});
export const isDark = computed(
  () => theme.value === "dark" || (theme.value === "auto" && systemIsDark.value),
);
effect(() => {
  document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
  if (theme.value === "auto") localStorage.removeItem(THEME);
  else localStorage.setItem(THEME, theme.value);
});

/** Single keys can be turned off: speech input types them by mistake. */
const KEYS = "gristmill.keys";
export const hasSingleKeys = signal(localStorage.getItem(KEYS) !== "off");
effect(() => localStorage.setItem(KEYS, hasSingleKeys.value ? "on" : "off"));

// ---- The loaded profile, and reloading.

effect(() => {
  void scopeKey.value;
  const control = new AbortController();
  ask({ kind: "summary" }, control.signal).then(
    (answer) => {
      if (control.signal.aborted) return;
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

const POLL_MILLISECONDS = 2000;
let lastGeneration: number | null = null;

/** Asks everything again; the address, and so the view, stays. */
function loadAgain(): void {
  library.forget();
  generation.value += 1;
  announce.value = "the files changed and are loaded again";
}

/** Looks whether the files were loaded again. Returns `false` if that will not happen. */
async function look(): Promise<boolean> {
  const loaded = await library.loaded();
  reloadProblem.value = loaded.failure ?? "";
  if (lastGeneration !== null && loaded.generation !== lastGeneration) loadAgain();
  lastGeneration = loaded.generation;
  return loaded.is_watched !== false;
}

async function poll(): Promise<void> {
  let goesOn = true;
  // A page that is not seen need not follow.
  if (!document.hidden) goesOn = await look().catch(() => true); // The next question reports that the server is gone.
  if (goesOn) setTimeout(poll, POLL_MILLISECONDS);
}
void poll();
