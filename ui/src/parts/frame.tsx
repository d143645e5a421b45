import { useEffect, useRef } from "preact/hooks";
import {
  announce,
  event,
  eventName,
  failure,
  go,
  hover,
  isBusy,
  isDark,
  overlay,
  place,
  summary,
  theme,
  total,
  VIEWS,
  type View,
} from "../state";
import { grouped, visible } from "../format";
import { Inspector } from "./inspector";
import { Help, Palette } from "./palette";
import { Overview } from "../views/overview";
import { Functions } from "../views/functions";
import { FlameView } from "../views/flame";
import { TreeView } from "../views/tree";
import { Callers } from "../views/callers";
import { GraphView } from "../views/graph";
import { TreemapView } from "../views/treemap";
import { SourceView } from "../views/source";
import { AssemblyView } from "../views/assembly";
import { PartsView } from "../views/parts";
import { FindingsView } from "../views/findings";
import { CompareView } from "../views/compare";
import { Empty } from "./common";

const COMPONENTS: Record<View, () => preact.JSX.Element> = {
  overview: Overview,
  functions: Functions,
  flame: FlameView,
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
/** Outlines of the icons of the rail, in a square of 16. */
const ICONS: Record<View, string> = {
  overview: "M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z",
  functions: "M2 3h12M2 6.5h12M2 10h12M2 13.5h12",
  flame: "M1 12.5h14v-3H1zM1 8.5h9v-3H1zM1 4.5h5v-3H1z",
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
      {VIEWS.map(([view, name], index) => {
        if (view === "compare" && !summary.value?.base) return null;
        return (
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
        );
      })}
    </nav>
  );
}

function Top() {
  const loaded = summary.value;
  const nextTheme =
    theme.value === "auto" ? (isDark.value ? "light" : "dark") : theme.value === "light" ? "dark" : "light";
  return (
    <header class="top">
      <strong class="brand">Gristmill</strong>
      <span class="file" title={loaded?.files.map((file) => file.name).join("\n")}>
        {visible(loaded?.head.title || loaded?.files[0]?.name || "")}
        {loaded && loaded.files.length > 1 ? ` and ${loaded.files.length - 1} more` : ""}
      </span>
      <label class="pick">
        <span>Event</span>
        <select
          id="event"
          aria-label="Event type"
          value={eventName.value}
          onChange={(e) => go({ event: e.currentTarget.value })}
        >
          {loaded?.event_types.map((type) => (
            <option key={type.name} value={type.name}>
              {type.name}
              {type.long_name ? ` – ${type.long_name}` : ""}
            </option>
          ))}
        </select>
      </label>
      <label class="pick">
        <span>Parts</span>
        <input
          value={place.value.parts}
          placeholder="all"
          size={6}
          disabled={!loaded?.has.several_parts}
          onChange={(e) => go({ parts: e.currentTarget.value.trim() })}
          aria-label="Parts, as 1-3,7"
        />
      </label>
      <span class="grow" />
      <button
        class="search"
        onClick={() => {
          overlay.value = "palette";
        }}
      >
        Search and commands <kbd>Ctrl K</kbd>
      </button>
      <button
        aria-label={`Use the ${nextTheme} theme`}
        title={`Use the ${nextTheme} theme`}
        onClick={() => {
          theme.value = nextTheme;
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

/** What narrows all views, each removable. */
function Crumbs() {
  const { hide, focus, fold, cycles, parts } = place.value;
  const crumbs = [
    focus && { text: `only stacks with ${focus}`, undo: { focus: "" } },
    hide && { text: `hidden: ${hide} (cost counts for callers)`, undo: { hide: "" } },
    fold && { text: "recursion folded", undo: { fold: false } },
    !cycles && { text: "cycles not joined", undo: { cycles: true } },
    parts && { text: `parts ${parts}`, undo: { parts: "" } },
  ].filter((crumb) => crumb !== "" && crumb !== false);
  if (crumbs.length === 0) return null;
  return (
    <div class="crumbs" aria-label="What all views are narrowed to">
      {crumbs.map((crumb) => (
        <button key={crumb.text} onClick={() => go(crumb.undo)} aria-label={`Remove: ${crumb.text}`}>
          {visible(crumb.text)} <b aria-hidden="true">×</b>
        </button>
      ))}
      <span>
        percentages are of {grouped(total.value)} {eventName.value}
      </span>
    </div>
  );
}

function onKey(e: KeyboardEvent): void {
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
    e.preventDefault();
    overlay.value = overlay.value === "palette" ? "" : "palette";
    return;
  }
  if (e.key === "Escape" && overlay.value) {
    overlay.value = "";
    return;
  }
  if (
    e.ctrlKey ||
    e.metaKey ||
    e.altKey ||
    (e.target as HTMLElement).closest("input, select, textarea, dialog")
  )
    return;
  if (localStorage.getItem("gristmill.keys") === "off") return;
  const index = "123456789".indexOf(e.key);
  const events = summary.value?.event_types ?? [];
  if (index >= 0) go({ view: VIEWS[index]![0] });
  else if (e.key === "?") overlay.value = "help";
  else if (e.key === "/") {
    e.preventDefault();
    const box = document.querySelector<HTMLInputElement>("input.filter");
    if (box) box.focus();
    else overlay.value = "palette";
  } else if (e.key === "e" && events.length > 1)
    go({
      event: events[(events.findIndex((type) => type.name === eventName.value) + 1) % events.length]!.name,
    });
  else if (e.key === "i")
    go({ inclusive: !place.value.inclusive, sort: place.value.inclusive ? "self_cost" : "inclusive" });
  else if (e.key === "s") go({ view: "source" });
  else if (e.key === "r") go({ fold: !place.value.fold });
  else if ("t+-0".includes(e.key))
    document.querySelector<HTMLButtonElement>(`main [data-key="${e.key}"]`)?.click();
}

export function Frame() {
  useEffect(() => {
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const main = useRef<HTMLElement>(null);
  const { view } = place.value;
  useEffect(() => {
    hover.value = "";
    if (main.current) main.current.scrollTop = 0;
  }, [view]);
  const Component = COMPONENTS[view];
  const name = VIEWS.find(([key]) => key === view)![1];
  return (
    <>
      <Top />
      <Rail />
      <main ref={main} class={`main view-${view}`} aria-label={name}>
        <Crumbs />
        {failure.value ? (
          <Empty title="No answer">{failure.value}</Empty>
        ) : summary.value ? (
          <Component />
        ) : (
          <Empty title="Loading" />
        )}
      </main>
      {view === "overview" ||
      view === "callers" ||
      view === "findings" ||
      view === "parts" ||
      view === "compare" ? null : (
        <Inspector />
      )}
      <footer class="status">
        <span class="hover">{hover.value}</span>
        <span class="grow" />
        <span>{isBusy.value > 0 ? "Calculating…" : ""}</span>
        <span>
          {event.value?.name} total {grouped(total.value)}
          {event.value?.unit ? ` ${event.value.unit}` : ""}
        </span>
      </footer>
      <div class="sr" role="status" aria-live="polite">
        {announce.value}
      </div>
      {overlay.value === "palette" ? <Palette /> : overlay.value === "help" ? <Help /> : null}
    </>
  );
}
