// The command line that gives the same answer as the current view.
import { exactly } from "./format";
import { lines, place } from "./place";
import { eventName, isComparing, isRelative, scope, shownEvents, summary } from "./state";

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

/** Options that all views share. */
function scopeOptions(): string[] {
  const at = place.value;
  const options: string[] = [];
  if (at.event || at.second) options.push("--event", shownEvents.value.join(","));
  for (const formula of lines(at.derive)) options.push("--derive", formula);
  if (at.parts) options.push("--part", at.parts);
  if (at.threads) options.push("--thread", at.threads);
  if (at.processes) options.push("--pid", at.processes);
  if (at.focus) options.push("--focus", at.focus);
  if (scope.value.drop) options.push("--exclude", scope.value.drop);
  if (scope.value.hide) options.push("--hide", scope.value.hide);
  for (const cut of lines(at.cuts)) options.push("--cut", cut);
  if (!at.cycles) options.push("--no-cycles");
  if (at.fold) options.push("--fold-recursion");
  if (at.foldCallers) options.push("--fold-callers");
  return options;
}

function groupOptions(): string[] {
  const { group } = place.value;
  return group === "function" ? [] : ["--group", GROUPS[group] ?? group];
}

/** Options of `gristmill diff`, which compares no cycles. */
function changeOptions(): string[] {
  const { group, filter } = place.value;
  return [...(group === "cycle" ? [] : groupOptions()), ...(filter ? ["--filter", filter] : [])];
}

function functionOptions(): string[] {
  const { sort, filter, within, name } = place.value;
  const options = [...groupOptions(), "--sort", SORTS[sort] ?? "self"];
  if (filter) options.push("--filter", filter);
  if (isRelative.value && name) options.push("--relative-to", exactly(name));
  const colon = within.indexOf(":");
  const kind = within.slice(0, colon);
  if (kind === "object" || kind === "file") options.push(`--${kind}`, exactly(within.slice(colon + 1)));
  return options;
}

function treeOptions(): string[] {
  const { rootName, inverted } = place.value;
  return [...(rootName ? ["--from", rootName] : []), ...(inverted ? ["--inverted"] : [])];
}

/** The words after `gristmill`, without options of the scope and files. None while a view waits for a function. */
function viewWords(): string[] {
  const { view, name, callerDepth } = place.value;
  const show = (...options: string[]) => (name ? ["show", name, ...options] : []);
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
      return show("--depth", callerDepth);
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
  if (view === "flame" || view === "tree" || view === "treemap") return ["diff", "--tree"];
  if ((view === "source" || view === "callers") && name) return ["diff", "--function", name];
  return ["diff", ...changeOptions()];
}

/** The command, with quotes where a shell needs them. */
export function commandLine(): string {
  const loaded = summary.value;
  if (!loaded || eventName.value === "") return "";
  const compares = isComparing.value || place.value.view === "compare";
  const words = compares ? compareWords() : viewWords();
  if (words.length === 0) return "";
  const takesScope = words[0] !== "info" && words[0] !== "lint";
  const files = loaded.files.map((file) => file.name);
  const bases = compares ? (loaded.base?.files ?? []) : [];
  const sides = place.value.swapped && compares ? [...files, ...bases] : [...bases, ...files];
  return ["gristmill", ...words, ...(takesScope ? scopeOptions() : []), ...sides].map(quoted).join(" ");
}
