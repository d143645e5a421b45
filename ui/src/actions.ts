// Everything that can be done by key, menu or palette, once. The list of keys is made from it.
import { spelled } from "./format";
import { go, lines, place, UNNARROWED, VIEWS, type View } from "./place";
import { commandLine, waitsForFunction } from "./shell";
import {
  announce,
  eventName,
  exactly,
  hasSingleKeys,
  isComparing,
  overlay,
  select,
  selection,
  startAt,
  startAtProgram,
  stepInList,
  summary,
  theme,
  type Row,
} from "./state";

export interface Action {
  id: string;
  text: string;
  /** A line of explanation, or the name that other profilers use. */
  note?: string;
  key?: string;
  group: "View" | "Selection" | "Narrow" | "Numbers" | "Picture" | "Page";
  isPossible?: () => boolean;
  run: () => void;
}

/** Puts text on the clipboard, and says so. */
export function copy(text: string, what: string): void {
  navigator.clipboard.writeText(text).then(
    () => {
      announce.value = `copied ${what}`;
    },
    () => {
      announce.value = "the browser refused to copy";
    },
  );
}

/** Presses a button of the current view. */
function press(action: string): void {
  document.querySelector<HTMLButtonElement>(`main [data-action="${action}"]`)?.click();
}

const isSelected = () => selection.value !== null;
const hasBase = () => summary.value?.base != null;
/** The name of a function whose levels of recursion become one. */
function withoutLevel(name: string, folds: boolean): string {
  return folds ? name.replace(/'\d+$/, "") : name;
}

function selectedName(): string {
  return selection.value?.function.name ?? "";
}

function added(text: string, line: string): string {
  return lines(text).includes(line) ? text : [...lines(text), line].join("\n");
}

/** Takes the calls from one function to another out of the graph. */
export function cutCalls(caller: string, callee: string): void {
  go({ cuts: added(place.value.cuts, `${exactly(caller)} -> ${exactly(callee)}`) });
}

/** Merges functions into their callers. */
export function hideFunction(name: string): void {
  go({ hide: added(place.value.hide, exactly(name)) });
}

/** Takes functions out with what they call: their cost leaves the total. */
export function dropFunction(name: string): void {
  go({ drop: added(place.value.drop, exactly(name)) });
}

export function isViewPossible(view: View): boolean {
  return view !== "compare" || hasBase();
}

/** The next event type of the profile, after the named one. */
function eventAfter(name: string): string {
  const events = summary.value?.event_types ?? [];
  const at = events.findIndex((type) => type.name === name);
  return events[(at + 1) % events.length]?.name ?? "";
}

const VIEW_ACTIONS: Action[] = VIEWS.map(([view, name], index) => ({
  id: `view-${view}`,
  text: name,
  ...(index < 9 ? { key: String(index + 1) } : {}),
  group: "View" as const,
  isPossible: () => isViewPossible(view),
  run: () => go({ view }),
}));

const SELECTION_ACTIONS: Action[] = [
  {
    id: "source",
    text: "Source of the selection",
    key: "s",
    group: "Selection",
    run: () => go({ view: "source" }),
  },
  {
    id: "callers",
    text: "Callers and callees of the selection",
    group: "Selection",
    isPossible: isSelected,
    run: () => go({ view: "callers" }),
  },
  {
    id: "sandwich",
    text: "Sandwich around the selection",
    note: "all ways to it above, everything it calls below",
    key: "w",
    group: "Selection",
    isPossible: isSelected,
    run: () => go({ view: "sandwich" }),
  },
  {
    id: "graph",
    text: "Call graph around the selection",
    key: "g",
    group: "Selection",
    isPossible: isSelected,
    run: () => go({ view: "graph", around: true }),
  },
  {
    id: "flame-from",
    text: "Begin pictures and trees with the selection",
    note: "its callees, as if it were the program; also: focus on subtree",
    key: "F",
    group: "Selection",
    isPossible: isSelected,
    run: () => startAt(selection.value!.function, place.value.view === "tree" ? "tree" : "flame"),
  },
  {
    id: "previous",
    text: "Previous function of the list",
    key: "[",
    group: "Selection",
    run: () => stepInList(-1),
  },
  { id: "next", text: "Next function of the list", key: "]", group: "Selection", run: () => stepInList(1) },
  {
    id: "copy-name",
    text: "Copy the name of the selection",
    group: "Selection",
    isPossible: isSelected,
    run: () => copy(spelled(selectedName()), "the name"),
  },
];

const NARROW_ACTIONS: Action[] = [
  {
    id: "focus",
    text: "Only stacks with the selection",
    note: "cost of other stacks leaves the total; also: focus",
    key: "f",
    group: "Narrow",
    isPossible: isSelected,
    run: () => go({ focus: exactly(selectedName()) }),
  },
  {
    id: "hide",
    text: "Merge the selection into its callers",
    note: "its cost counts for them; also: hide",
    key: "m",
    group: "Narrow",
    isPossible: isSelected,
    run: () => hideFunction(selectedName()),
  },
  {
    id: "drop",
    text: "Leave out the selection",
    note: "its cost, with what it calls, leaves the total; also: drop",
    key: "D",
    group: "Narrow",
    isPossible: isSelected,
    run: () => dropFunction(selectedName()),
  },
  {
    id: "fold",
    text: "Fold recursion",
    note: "all levels of a recursion are one function",
    key: "r",
    group: "Narrow",
    run: () => go({ fold: !place.value.fold, name: withoutLevel(place.value.name, !place.value.fold) }),
  },
  {
    id: "fold-callers",
    text: "Fold recorded callers",
    note: "functions that differ only in their recorded callers are one",
    group: "Narrow",
    run: () => go({ foldCallers: !place.value.foldCallers }),
  },
  {
    id: "cycles",
    text: "Join cycles, or not",
    note: "the members of a cycle count as one",
    key: "c",
    group: "Narrow",
    run: () => go({ cycles: !place.value.cycles }),
  },
  { id: "unnarrow", text: "Show everything again", key: "u", group: "Narrow", run: () => go(UNNARROWED) },
  {
    id: "program",
    text: "Begin pictures and trees with the program",
    group: "Narrow",
    isPossible: () => place.value.rootName !== "",
    run: startAtProgram,
  },
];

const NUMBER_ACTIONS: Action[] = [
  {
    id: "event",
    text: "Next event type",
    key: "e",
    group: "Numbers",
    run: () => go({ event: eventAfter(eventName.value) }),
  },
  {
    id: "second",
    text: "Next event type beside the first",
    key: "E",
    group: "Numbers",
    run: () => go({ second: eventAfter(place.value.second || eventName.value) }),
  },
  {
    id: "formula",
    text: "New event type by formula",
    group: "Numbers",
    run: () => {
      overlay.value = "formula";
    },
  },
  {
    id: "relative",
    text: "Percentages of the selection, or of the total",
    key: "%",
    group: "Numbers",
    run: () => go({ relative: !place.value.relative }),
  },
  {
    id: "inclusive",
    text: "Sort by inclusive or by self cost",
    key: "i",
    group: "Numbers",
    run: () => go({ sort: place.value.sort === "inclusive" ? "self_cost" : "inclusive", ascending: false }),
  },
  {
    id: "compare",
    text: "Changes since the base, or not",
    key: "d",
    group: "Numbers",
    isPossible: hasBase,
    run: () => go({ compare: !place.value.compare }),
  },
  {
    id: "swap",
    text: "Swap the sides of the comparison",
    key: "x",
    group: "Numbers",
    isPossible: () => isComparing.value || (hasBase() && place.value.view === "compare"),
    run: () => go({ swapped: !place.value.swapped }),
  },
];

const PICTURE_ACTIONS: Action[] = [
  {
    id: "table",
    text: "Picture as a table, or back",
    key: "t",
    group: "Picture",
    run: () => go({ asTable: !place.value.asTable }),
  },
  { id: "larger", text: "Larger", key: "+", group: "Picture", run: () => press("larger") },
  { id: "smaller", text: "Smaller", key: "-", group: "Picture", run: () => press("smaller") },
  { id: "fit", text: "Fit into the window", key: "0", group: "Picture", run: () => press("fit") },
  { id: "next-match", text: "Next match", key: "n", group: "Picture", run: () => press("next-match") },
  {
    id: "previous-match",
    text: "Previous match",
    key: "p",
    group: "Picture",
    run: () => press("previous-match"),
  },
];

function setFocusToFilter(): void {
  const box = document.querySelector<HTMLInputElement>("input.filter");
  if (box) box.focus();
  else overlay.value = "palette";
}

const PAGE_ACTIONS: Action[] = [
  {
    id: "copy",
    text: "Copy the table",
    key: "y",
    group: "Page",
    run: () => press("copy"),
  },
  {
    id: "command",
    text: "Copy the command with the same answer",
    key: "Y",
    group: "Page",
    run: () => {
      const command = commandLine();
      if (command === "")
        announce.value = `no command gives this answer${waitsForFunction() ? " before a function is selected" : ""}`;
      else copy(command, "the command");
    },
  },
  {
    id: "views",
    text: "Saved views",
    note: "give this view a name, or go to one that has a name",
    key: "b",
    group: "Page",
    run: () => {
      overlay.value = "views";
    },
  },
  { id: "filter", text: "Filter or search of this view", key: "/", group: "Page", run: setFocusToFilter },
  {
    id: "help",
    text: "Keys",
    key: "?",
    group: "Page",
    run: () => {
      overlay.value = "help";
    },
  },
  ...(["light", "dark", "auto"] as const).map((name) => ({
    id: `theme-${name}`,
    text: name === "auto" ? "Theme of the system" : `${name === "dark" ? "Dark" : "Light"} theme`,
    group: "Page" as const,
    run: () => {
      theme.value = name;
    },
  })),
  {
    id: "keys",
    text: "Turn single keys on or off",
    group: "Page",
    run: () => {
      hasSingleKeys.value = !hasSingleKeys.value;
      announce.value = hasSingleKeys.value ? "single keys are on" : "single keys are off";
    },
  },
];

export const ACTIONS: Action[] = [
  ...VIEW_ACTIONS,
  ...SELECTION_ACTIONS,
  ...NARROW_ACTIONS,
  ...NUMBER_ACTIONS,
  ...PICTURE_ACTIONS,
  ...PAGE_ACTIONS,
];

/** Actions for the event types of the profile, which only the palette has. */
export function eventActions(): Action[] {
  return (summary.value?.event_types ?? []).map((type) => ({
    id: `event-${type.name}`,
    text: `Event type ${type.name}`,
    note: type.long_name ?? type.formula ?? "",
    group: "Numbers",
    run: () => go({ event: type.name }),
  }));
}

export function isPossible(action: Action): boolean {
  return action.isPossible?.() ?? true;
}

/** The actions of the menu of a function. */
export const MENU = [
  "callers",
  "source",
  "sandwich",
  "graph",
  "flame-from",
  "focus",
  "hide",
  "drop",
  "copy-name",
];

/** `true` if no control of a view has the focus: only the page, the choice of views, or the view itself. */
export function isBesideView(element: Element | null): boolean {
  return element === document.body || element?.matches("main, .rail button") === true;
}

/** Gives the table of the view the focus, and a key. */
export function goToTable(key: string): void {
  const table = document.querySelector<HTMLElement>("main .scroll");
  table?.focus();
  table?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

/** Runs the action of a key, unless somebody types. */
export function onKey(e: KeyboardEvent): void {
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
    e.preventDefault();
    overlay.value = overlay.value === "palette" ? "" : "palette";
    return;
  }
  if (e.ctrlKey || e.metaKey || e.altKey || overlay.value !== "" || !hasSingleKeys.value) return;
  if ((e.target as HTMLElement).closest("input, select, textarea, dialog")) return;
  if ((e.key === "ArrowDown" || e.key === "ArrowUp") && isBesideView(document.activeElement)) {
    goToTable(e.key);
    return;
  }
  const action = ACTIONS.find((one) => one.key === e.key);
  if (!action || !isPossible(action)) return;
  e.preventDefault();
  action.run();
}

/** Selects, and opens the view for closer looks from a list. */
export function openFunction(row: Row): void {
  select(row, "callers");
}
