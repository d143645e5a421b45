// The frame around all views: top bar, rail, crumbs, status strip.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ACTIONS, copy, isBesideView, isViewPossible, onKey } from "../actions";
import { grouped, signed, visible } from "../format";
import { canOpen, choose, notes } from "../opening";
import { go, lines, place, VIEWS, type Place, type View } from "../place";
import { commandLine } from "../shell";
import {
  announce,
  busyCount,
  changedTotals,
  event,
  eventName,
  failure,
  hasChanges,
  hover,
  isComparing,
  isDark,
  overlay,
  reloadProblem,
  summary,
  theme,
  whole,
  wholeText,
} from "../state";
import { AssemblyView } from "../views/assembly";
import { Callers } from "../views/callers";
import { CompareView } from "../views/compare";
import { FindingsView } from "../views/findings";
import { FlameView } from "../views/flame";
import { Functions } from "../views/functions";
import { GraphView } from "../views/graph";
import { Overview } from "../views/overview";
import { PartsView } from "../views/parts";
import { SandwichView } from "../views/sandwich";
import { SourceView } from "../views/source";
import { TreeView } from "../views/tree";
import { TreemapView } from "../views/treemap";
import { Status } from "./answer";
import { direction, relativeChange, sidesOf } from "./cost";
import { Formula } from "./formula";
import { Help } from "./help";
import { Inspector } from "./inspector";
import { Menu } from "./menu";
import { Palette } from "./palette";
import { SavedViews } from "./saved-views";

const COMPONENTS: Record<View, () => preact.JSX.Element> = {
  overview: Overview,
  functions: Functions,
  flame: FlameView,
  sandwich: SandwichView,
  tree: TreeView,
  callers: Callers,
  graph: GraphView,
  treemap: TreemapView,
  source: SourceView,
  assembly: AssemblyView,
  parts: PartsView,
  findings: FindingsView,
  compare: CompareView,
};

/** Views that show the selection themselves, or no functions at all. */
const WITHOUT_INSPECTOR = new Set<View>(["overview", "callers", "findings", "parts", "compare"]);

/** Outlines of the icons of the rail, in a square of 16. */
const ICONS: Record<View, string> = {
  overview: "M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z",
  functions: "M2 3h12M2 6.5h12M2 10h12M2 13.5h12",
  flame: "M1 12.5h14v-3H1zM1 8.5h9v-3H1zM1 4.5h5v-3H1z",
  sandwich: "M3.5 1.5h9v3h-9zM1 6.5h14v3H1zM5 11.5h6v3H5z",
  tree: "M2 2.5h5M4 2.5v10h3M4 7.5h3M9 7.5h5M9 12.5h5",
  callers: "M2 3l5 5-5 5M9 3l5 5-5 5",
  graph: "M6 1.5h4v3H6zM1.5 11.5h4v3h-4zM10.5 11.5h4v3h-4zM7 4.5l-3 7M9 4.5l3 7",
  treemap: "M1.5 1.5h13v13h-13zM8.5 1.5v13M8.5 7h6M1.5 10h7M11.5 7v7.5",
  source: "M5 4L1.5 8 5 12M11 4l3.5 4-3.5 4M9 2.5l-2 11",
  assembly: "M4 4h8v8H4zM6 1.5V4M10 1.5V4M6 12v2.5M10 12v2.5M1.5 6H4M1.5 10H4M12 6h2.5M12 10h2.5",
  parts: "M1.5 3h9M1.5 6.5h13M1.5 10h5M1.5 13.5h11",
  findings: "M8 1.5l6.5 12h-13zM8 6v3.5M8 11.5v.5",
  compare: "M2 4.5h12l-3-3M14 11.5H2l3 3",
};

function Rail() {
  return (
    <nav class="rail" aria-label="Views">
      {VIEWS.map(([view, name], index) =>
        isViewPossible(view) ? (
          <button
            key={view}
            aria-current={place.value.view === view ? "page" : undefined}
            aria-label={name}
            title={index < 9 ? `${name} (${index + 1})` : name}
            onClick={() => go({ view })}
          >
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
              <path d={ICONS[view]} />
            </svg>
            <span>{name}</span>
          </button>
        ) : null,
      )}
    </nav>
  );
}

const FORMULA = "\u0000formula";

function EventPicker() {
  const types = summary.value?.event_types ?? [];
  const { second } = place.value;
  return (
    <span class="pick">
      <label>
        <span>Event</span>
        <select
          id="event"
          aria-label="Event type"
          value={eventName.value}
          onChange={(e) => {
            const chosen = e.currentTarget.value;
            if (chosen !== FORMULA) go({ event: chosen });
            else {
              e.currentTarget.value = eventName.value;
              overlay.value = "formula";
            }
          }}
        >
          {types.map((type) => (
            <option key={type.name} value={type.name}>
              {visible(type.name)}
              {type.long_name ? ` – ${visible(type.long_name)}` : ""}
            </option>
          ))}
          <option value={FORMULA}>New by formula…</option>
        </select>
      </label>
      {types.length > 1 ? (
        <select
          class="second"
          aria-label="Second event type"
          title="A second event type beside the first"
          value={second === eventName.value ? "" : second}
          onChange={(e) => go({ second: e.currentTarget.value })}
        >
          <option value="">+ second</option>
          {types
            .filter((type) => type.name !== eventName.value)
            .map((type) => (
              <option key={type.name} value={type.name}>
                + {visible(type.name)}
              </option>
            ))}
        </select>
      ) : null}
    </span>
  );
}

function FileName() {
  const loaded = summary.value;
  const count = loaded?.files.length ?? 0;
  return (
    <span class="file" title={loaded?.files.map((file) => visible(file.name)).join("\n")}>
      {visible(loaded?.head.title || loaded?.files[0]?.name || "")}
      {count > 1 ? ` and ${count - 1} more` : ""}
    </span>
  );
}

function CompareSwitch() {
  if (!summary.value?.base) return null;
  return (
    <button
      aria-pressed={place.value.compare}
      title="Show the changes since the base in all views (d)"
      onClick={() => go({ compare: !place.value.compare })}
    >
      Δ Compare
    </button>
  );
}

function nextTheme(): "light" | "dark" {
  if (theme.value === "auto") return isDark.value ? "light" : "dark";
  return theme.value === "light" ? "dark" : "light";
}

function Top() {
  const narrowed = summary.value?.has.several_parts ?? false;
  const wanted = nextTheme();
  return (
    <header class="top">
      <strong class="brand">Gristmill</strong>
      <FileName />
      <EventPicker />
      {narrowed ? (
        <button title="Choose parts, threads and processes" onClick={() => go({ view: "parts" })}>
          Parts: {summary.value!.head.selected_parts} of {summary.value!.head.parts}
        </button>
      ) : null}
      <CompareSwitch />
      {canOpen ? <button onClick={choose}>Open…</button> : null}
      <span class="grow" />
      <button
        class="search"
        aria-label="Search and commands"
        onClick={() => {
          overlay.value = "palette";
        }}
      >
        <span>Search and commands</span> <kbd>Ctrl K</kbd>
      </button>
      <button
        aria-label="Saved views"
        title="Saved views (b)"
        onClick={() => {
          overlay.value = "views";
        }}
      >
        ☆
      </button>
      <button
        aria-label={`Use the ${wanted} theme`}
        title={`Use the ${wanted} theme`}
        onClick={() => {
          theme.value = wanted;
        }}
      >
        {isDark.value ? "☀" : "☾"}
      </button>
      <button
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => {
          overlay.value = "help";
        }}
      >
        ?
      </button>
    </header>
  );
}

interface Crumb {
  text: string;
  undo: () => void;
}

function crumb(isThere: boolean | string, text: string, undo: Partial<Place>): Crumb[] {
  return isThere ? [{ text, undo: () => go(undo) }] : [];
}

/** A pattern that matches one name, as that name. */
function unquoted(pattern: string): string {
  return pattern
    .replaceAll(/[\^$](?=$| -> )|(?<=^| -> )(\(\?-i\))?\^/g, "")
    .replaceAll(/\\([^A-Za-z0-9])/g, "$1");
}

/** A crumb for each line of a setting. */
function crumbsOf(setting: "hide" | "drop" | "cuts" | "derive", say: (line: string) => string): Crumb[] {
  const all = lines(place.value[setting]);
  return all.map((line) => ({
    text: say(line),
    undo: () => {
      const rest = all.filter((other) => other !== line).join("\n");
      // A view of an event type that is gone would have no answer.
      const isShown = setting === "derive" && line.split("=")[0]?.trim() === place.value.event;
      go({ [setting]: rest, ...(isShown ? { event: "" } : {}) });
    },
  }));
}

function crumbs(): Crumb[] {
  const at = place.value;
  return [
    ...crumb(at.rootName, `begins with ${at.rootName}`, {
      rootName: "",
      rootFile: "",
      rootObject: "",
      zoom: "",
    }),
    ...crumb(at.focus, `only stacks with ${unquoted(at.focus)}`, { focus: "" }),
    ...crumbsOf("drop", (line) => `left out, with what it calls: ${unquoted(line)}`),
    ...crumbsOf("hide", (line) => `merged into callers: ${unquoted(line)}`),
    ...crumbsOf("cuts", (line) => `cut: ${unquoted(line)}`),
    ...crumb(at.fold, "recursion folded", { fold: false }),
    ...crumb(at.foldCallers, "recorded callers folded", { foldCallers: false }),
    ...crumb(!at.cycles, "cycles not joined", { cycles: true }),
    ...crumb(at.parts, `parts ${at.parts}`, { parts: "" }),
    ...crumb(at.threads, `threads ${at.threads}`, { threads: "" }),
    ...crumb(at.processes, `processes ${at.processes}`, { processes: "" }),
    ...crumbsOf("derive", (line) => line),
    ...crumb(at.swapped && isComparing.value, "sides swapped", { swapped: false }),
  ];
}

/** Everything that narrows all views, each removable. */
function Crumbs() {
  const list = crumbs();
  if (list.length === 0) return null;
  return (
    <div class="crumbs" role="group" aria-label="Settings of all views">
      {list.map((one) => (
        <button
          key={one.text}
          onClick={one.undo}
          title={visible(one.text)}
          aria-label={`Remove: ${visible(one.text)}`}
        >
          <span>{visible(one.text)}</span> <b aria-hidden="true">×</b>
        </button>
      ))}
      {list.length > 1 ? (
        <button class="plain" onClick={() => ACTIONS.find((action) => action.id === "unnarrow")!.run()}>
          Show everything
        </button>
      ) : null}
    </div>
  );
}

/** Remarks of the library on event types by formula. The overview has all remarks. */
function FormulaNotes() {
  if (place.value.derive === "" || place.value.view === "overview") return null;
  return (
    <>
      {summary.value?.head.notes.map((note) => (
        <p class="note" key={note}>
          {visible(note)}
        </p>
      ))}
    </>
  );
}

/** Why the numbers are not those of the recording, above every view that does not say so itself. */
function DamageNotes() {
  const { view } = place.value;
  if (view === "overview" || view === "compare") return null;
  return (
    <>
      {summary.value?.damage.map((row) => (
        <p class="warn" key={row.text}>
          {visible(row.text)}
        </p>
      ))}
    </>
  );
}

/** What the profile of an exported page lacks. */
function ExportNotes() {
  return (
    <>
      {notes.value.map((note) => (
        <p class="note" key={note}>
          {visible(note)}
        </p>
      ))}
    </>
  );
}

/** "A 85,123 → B 80,004 Ir, −6.0%", wherever changes are shown. */
function CompareLine() {
  const loaded = summary.value;
  const change = sidesOf(changedTotals.value?.[eventName.value]);
  if (!isComparing.value || !change || !loaded?.base) return null;
  const sides = [
    `${loaded.base.files.map(visible).join(", ")} (base)`,
    loaded.files.map((file) => visible(file.name)).join(", "),
  ];
  return (
    <p class="compare-line">
      <span>
        <b>{grouped(change.base)}</b> → <b>{grouped(change.new)}</b> {eventName.value}{" "}
        <span class={direction(change)}>
          {signed(change.change)} ({relativeChange(change)})
        </span>
      </span>
      <span class="dim">
        {hasChanges.value
          ? (place.value.swapped ? sides.reverse() : sides).join(" → ")
          : "this view has the costs of the new profile only"}
      </span>
      <button
        title="Swap the sides (x)"
        aria-label="Swap the sides"
        onClick={() => go({ swapped: !place.value.swapped })}
      >
        ⇄
      </button>
    </p>
  );
}

/** The number that the percentages of the view are of. */
function WholeCost() {
  const unit = event.value?.unit ? ` ${event.value.unit}` : "";
  const { view, asTable } = place.value;
  if (summary.value === null) return null;
  if (hasChanges.value) {
    const isPicture = !asTable && ["flame", "sandwich", "graph", "treemap"].includes(view);
    const before = sidesOf(changedTotals.value?.[eventName.value])?.base;
    return (
      <span class="whole">
        100% ={" "}
        {isPicture
          ? `${grouped(before)} ${eventName.value}${unit}, the total before`
          : "the cost before, in each row"}
      </span>
    );
  }
  return (
    <button
      class="whole"
      title="Percentages of the total, or of the selection (%)"
      onClick={() => go({ relative: !place.value.relative })}
    >
      100% = {grouped(whole.value)} {eventName.value}
      {unit}, {visible(wholeText.value)}
    </button>
  );
}

/** The strip below: what the pointer is over, else the command with the same answer. */
function StatusStrip() {
  const command = commandLine();
  return (
    <footer class="status">
      {hover.value ? (
        <span class="hover">{hover.value}</span>
      ) : (
        command !== "" && (
          <span class="command">
            <button
              title="Copy the command with the same answer (Y)"
              aria-label="Copy the command with the same answer"
              onClick={() => copy(command, "the command")}
            >
              $
            </button>
            <code title={visible(command)}>{visible(command)}</code>
          </span>
        )
      )}
      <span class="grow" />
      <span class="busy">{busyCount.value > 0 ? "Calculating…" : ""}</span>
      <WholeCost />
    </footer>
  );
}

function MainContent() {
  const Component = COMPONENTS[place.value.view];
  if (failure.value) return <Failure />;
  if (!summary.value) return <Status error="" answer={null} />;
  return <Component />;
}

/** The reason why nothing can be shown, with a way back. */
function Failure() {
  return (
    <div class="empty" role="alert">
      <h2>No answer</h2>
      <p>{visible(failure.value)}</p>
      <p>
        <button onClick={() => history.back()}>Back</button>{" "}
        <button
          onClick={() =>
            go({
              event: "",
              second: "",
              derive: "",
              focus: "",
              drop: "",
              hide: "",
              cuts: "",
              parts: "",
              threads: "",
              processes: "",
            })
          }
        >
          Show everything again
        </button>
      </p>
    </div>
  );
}

export function Frame() {
  // At once: a page that loads its profile itself draws the frame late.
  useLayoutEffect(() => {
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const main = useRef<HTMLElement>(null);
  const { view } = place.value;
  useEffect(() => {
    hover.value = "";
    const element = main.current;
    if (!element) return;
    element.scrollTop = 0;
    // Tab and arrows go on in the view that was gone to.
    if (isBesideView(document.activeElement)) element.focus({ preventScroll: true });
  }, [view]);
  const name = VIEWS.find(([key]) => key === view)![1];
  return (
    <>
      <Top />
      <Rail />
      <main ref={main} tabIndex={-1} class={`main view-${view}`} aria-label={name}>
        {reloadProblem.value ? (
          <p class="warn">The files changed, but: {visible(reloadProblem.value)}</p>
        ) : null}
        <ExportNotes />
        <Crumbs />
        <CompareLine />
        <DamageNotes />
        <FormulaNotes />
        <MainContent />
      </main>
      {WITHOUT_INSPECTOR.has(view) ? null : <Inspector />}
      <StatusStrip />
      <div class="sr" role="status" aria-live="polite">
        {announce.value}
      </div>
      <Menu />
      {overlay.value === "palette" ? <Palette /> : null}
      {overlay.value === "help" ? <Help /> : null}
      {overlay.value === "formula" ? <Formula /> : null}
      {overlay.value === "views" ? <SavedViews /> : null}
    </>
  );
}
