// The command line that gives the same answer as the current view.
import { patternOf } from "./format";
import { lines, place, type FunctionKey } from "./place";
import {
  MAX_NAMESAKES,
  eventName,
  exactly,
  hasChanges,
  isRelative,
  namesakes,
  namesakesOfRoot,
  scope,
  shownEvents,
  summary,
  twin,
} from "./state";

/** The limits of questions for trees that are tables: shares in thousandths of the root, counts of nodes. */
export const TREE_LIMITS = { min_share: 2, limit: 3000 };
export const CHANGED_TREE_LIMITS = { min_share: 1, limit: 2000 };

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;
function quoted(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const SORTS: Record<string, string> = {
  self_cost: "self",
  inclusive: "inclusive",
  calls: "calls",
  name: "name",
};
const GROUPS: Record<string, string> = { directory: "dir" };

/** Options that all views share, by command: one that lacks one of them has no answer like that of the view. */
const LACKS: Record<string, string[]> = {
  overview: ["--focus", "--exclude", "--hide"],
  annotate: ["--focus", "--exclude", "--hide", "--inlined", "--fold-recursion", "--fold-callers"],
  diff: ["--focus", "--exclude", "--hide"],
};
/** Options without effect on the answers of a command, which does not have them. */
const NEEDLESS: Record<string, string[]> = {
  annotate: ["--cut", "--no-cycles"],
  diff: ["--cut", "--no-cycles"],
};

/** An option with its value. One that begins like an option belongs to the same word. */
function option(name: string, value: string): string[] {
  return value.startsWith("-") ? [`${name}=${value}`] : [name, value];
}

/** Options that all views share. Null if the command does not have one of them. */
function scopeOptions(command: string): string[] | null {
  const at = place.value;
  const options: [string, string?][] = [];
  if (summary.value?.has.inlined) options.push(["--inlined"]);
  if (at.event || at.second) options.push(["--event", shownEvents.value.join(",")]);
  for (const formula of lines(at.derive)) options.push(["--derive", formula]);
  if (at.parts) options.push(["--part", at.parts]);
  if (at.threads) options.push(["--thread", at.threads]);
  if (at.processes) options.push(["--pid", at.processes]);
  if (at.focus) options.push(["--focus", at.focus]);
  if (scope.value.drop) options.push(["--exclude", scope.value.drop]);
  if (scope.value.hide) options.push(["--hide", scope.value.hide]);
  for (const cut of lines(at.cuts)) options.push(["--cut", cut]);
  if (!at.cycles) options.push(["--no-cycles"]);
  if (at.fold) options.push(["--fold-recursion"]);
  if (at.foldCallers) options.push(["--fold-callers"]);
  if (options.some(([name]) => LACKS[command]?.includes(name))) return null;
  return options
    .filter(([name]) => !NEEDLESS[command]?.includes(name))
    .flatMap(([name, value]) => (value === undefined ? [name] : option(name, value)));
}

/** A function as commands take it: with its file or its object, if others have its name. */
function located(key: FunctionKey, all: readonly FunctionKey[]): string {
  const others = all.filter(({ file, object }) => file !== key.file || object !== key.object);
  const tells = (kind: "file" | "object") =>
    key[kind] !== "" && key[kind] !== "???" && others.every((one) => one[kind] !== key[kind]);
  // Of more functions than are asked for, it need not be in the list.
  const isCut = all.length >= MAX_NAMESAKES;
  if (!isCut && (all.length < 2 || others.length === all.length)) return key.name;
  const kind = (["file", "object"] as const).find(tells);
  return kind ? `${key[kind]}:${key.name}` : key.name;
}

function selectedFunction(): string {
  const { name, file, object } = place.value;
  return located({ name, file, object }, namesakes.value);
}

function groupOptions(): string[] {
  const { group } = place.value;
  return group === "function" ? [] : ["--group", GROUPS[group] ?? group];
}

/** Options of `gristmill diff`, which compares no cycles. */
function changeOptions(): string[] {
  const { group, filter } = place.value;
  return [...(group === "cycle" ? [] : groupOptions()), ...(filter ? option("--filter", filter) : [])];
}

function relativeTo(): string {
  const found = selectedFunction();
  return found === place.value.name ? exactly(found) : found;
}

function functionOptions(): string[] {
  const { sort, filter, within, name } = place.value;
  const options = [...groupOptions(), "--sort", SORTS[sort] ?? "self"];
  if (filter) options.push(...option("--filter", filter));
  if (isRelative.value && name) options.push(...option("--relative-to", relativeTo()));
  const colon = within.indexOf(":");
  const kind = within.slice(0, colon);
  if (kind === "object" || kind === "file")
    options.push(`--${kind}`, patternOf(within.slice(colon + 1), false));
  return options;
}

function treeOptions(): string[] {
  const { rootName, rootFile, rootObject, inverted, view } = place.value;
  const from = { name: rootName, file: rootFile, object: rootObject };
  return [
    ...(rootName ? option("--from", located(from, namesakesOfRoot.value)) : []),
    ...(inverted ? ["--inverted"] : []),
    ...(view === "tree" ? limitsOf(TREE_LIMITS) : []),
  ];
}

/** The limits of a tree that is a table. */
function limitsOf({ min_share, limit }: { min_share: number; limit: number }): string[] {
  return ["--min", String(min_share / 10), "--limit", String(limit)];
}

/** The words after `gristmill`, without options of the scope, the function of `show` and files. None while a view waits for a function. */
function viewWords(): string[] {
  const { view, name, callerDepth, calleeDepth, around } = place.value;
  const show = (...options: string[]) => (name ? ["show", ...options] : []);
  switch (view) {
    case "overview":
      return ["overview"];
    case "functions":
      return ["functions", ...functionOptions()];
    case "flame":
    case "tree":
    case "treemap":
      return ["tree", ...treeOptions()];
    case "callers":
    case "sandwich":
      return show("--depth", "8");
    case "graph":
      // No report has the graph of the whole program.
      return around ? show("--depth", String(Math.max(Number(callerDepth), Number(calleeDepth)))) : [];
    case "source":
      return show("--lines", "0");
    case "assembly":
      return ["annotate", "--asm", ...(name ? ["--filter", exactly(name)] : [])];
    case "parts":
      return ["info"];
    case "findings":
      return ["lint"];
    case "compare":
      return ["diff", ...changeOptions()];
  }
}

function compareWords(): string[] {
  const { view, name } = place.value;
  if (view === "tree") return ["diff", "--tree", ...limitsOf(CHANGED_TREE_LIMITS)];
  if (view === "flame" || view === "treemap") return ["diff", "--tree"];
  if (view === "source" || view === "callers" || view === "sandwich")
    return name ? ["diff", ...option("--function", selectedFunction())] : [];
  if (view === "graph" && name) return ["diff", ...option("--function", selectedFunction())];
  return ["diff", ...changeOptions()];
}

/** `true` while there is no command because no function is selected. */
export function waitsForFunction(): boolean {
  const { view, name, around } = place.value;
  return !name && (["callers", "sandwich", "source"].includes(view) || (view === "graph" && around));
}

/** The command, with quotes where a shell needs them. */
export function commandLine(): string {
  const loaded = summary.value;
  if (!loaded || eventName.value === "") return "";
  const { swapped } = place.value;
  const compares = hasChanges.value;
  const words = compares ? compareWords() : viewWords();
  const [command] = words;
  if (command === undefined) return "";
  // No option of the program tells such functions apart.
  const namesSelection =
    command === "show" || words.includes("--function") || words.includes("--relative-to");
  if (namesSelection && twin.value !== "") return "";
  const options = command === "info" || command === "lint" ? [] : scopeOptions(command);
  if (options === null) return "";
  const files = loaded.files.map((file) => file.name);
  const bases = compares ? (loaded.base?.files ?? []) : [];
  const sides = swapped && compares ? [...files, ...bases] : [...bases, ...files];
  const subjects = command === "show" ? [selectedFunction(), ...sides] : sides;
  const end = subjects.some((word) => word.startsWith("-")) ? ["--"] : [];
  return ["gristmill", ...words, ...options, ...end, ...subjects].map(quoted).join(" ");
}
