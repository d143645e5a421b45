import { useEffect, useRef, useState } from "preact/hooks";
import { announce, eventName, go, overlay, place, select, summary, theme, total, VIEWS } from "../state";
import { grouped, percentOf, visible } from "../format";
import { useAnswer } from "./common";

interface Command {
  text: string;
  note: string;
  run: () => void;
}

function commands(): Command[] {
  const list: Command[] = VIEWS.filter(([view]) => view !== "compare" || summary.value?.base).map(
    ([view, name], index) => ({
      text: name,
      note: `view${index < 9 ? ` · ${index + 1}` : ""}`,
      run: () => go({ view }),
    }),
  );
  for (const type of summary.value?.event_types ?? [])
    list.push({
      text: `Event ${type.name}`,
      note: type.long_name ?? "",
      run: () => go({ event: type.name }),
    });
  list.push(
    {
      text: place.value.fold ? "Keep levels of recursion apart" : "Fold recursion",
      note: "r",
      run: () => go({ fold: !place.value.fold }),
    },
    {
      text: place.value.cycles ? "Do not join cycles" : "Join cycles",
      note: "",
      run: () => go({ cycles: !place.value.cycles }),
    },
    {
      text: "Show everything again",
      note: "removes all filters",
      run: () => go({ focus: "", hide: "", parts: "", filter: "", within: "", from: null }),
    },
    {
      text: "Light theme",
      note: "",
      run: () => {
        theme.value = "light";
      },
    },
    {
      text: "Dark theme",
      note: "",
      run: () => {
        theme.value = "dark";
      },
    },
    {
      text: "Theme of the system",
      note: "",
      run: () => {
        theme.value = "auto";
      },
    },
    {
      text: localStorage.getItem("gristmill.keys") === "off" ? "Turn single keys on" : "Turn single keys off",
      note: "",
      run: () =>
        localStorage.setItem(
          "gristmill.keys",
          localStorage.getItem("gristmill.keys") === "off" ? "on" : "off",
        ),
    },
    {
      text: "Keys",
      note: "?",
      run: () => {
        overlay.value = "help";
      },
    },
  );
  return list;
}

function Dialog({ label, children }: { label: string; children: preact.ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    ref.current?.showModal();
    return () => before?.focus();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-label={label}
      onClose={() => {
        overlay.value = "";
      }}
      onClick={(e) => {
        if (e.target === ref.current) overlay.value = "";
      }}
    >
      <div class="sheet">{children}</div>
    </dialog>
  );
}

export function Palette() {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  const [at, setAt] = useState(0);
  const onlyCommands = text.startsWith(">");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(onlyCommands ? "" : text.trim()), 80);
    return () => clearTimeout(timer);
  }, [text]);
  const { answer, error } = useAnswer(
    asked === "" ? null : { kind: "search", text: asked, is_pattern: false, limit: 30 },
  );
  const wanted = text.replace(/^>/, "").trim().toLowerCase();
  const matching = commands().filter((command) => command.text.toLowerCase().includes(wanted));
  const found: Command[] =
    onlyCommands || asked === ""
      ? []
      : [
          ...(answer?.functions ?? []).map((row) => ({
            text: row.name,
            note: `${percentOf(row.self[eventName.value], total.value)} self`,
            run: () => select(row, place.value.view === "overview" ? "callers" : place.value.view),
          })),
          ...(answer?.files ?? []).map((path) => ({
            text: path,
            note: "file",
            run: () => go({ view: "source", function: null, source: path }),
          })),
          ...(answer?.objects ?? []).map((path) => ({
            text: path,
            note: "object",
            run: () => go({ view: "functions", within: `object:${path}`, group: "function" }),
          })),
        ];
  const items = [...found, ...matching];
  const current = Math.min(at, items.length - 1);
  useEffect(() => {
    document.getElementById(`choice-${current}`)?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const run = (item: Command | undefined) => {
    if (!item) return;
    overlay.value = "";
    item.run();
    announce.value = item.text;
  };
  return (
    <Dialog label="Search and commands">
      <input
        class="palette"
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={`choice-${current}`}
        aria-label="Functions, files and commands"
        placeholder="Functions and files; > for commands only"
        autofocus
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown") {
            e.preventDefault();
            setAt(Math.min(items.length - 1, current + 1));
          } else if (e.key === "ArrowUp") {
            e.preventDefault();
            setAt(Math.max(0, current - 1));
          } else if (e.key === "Enter") {
            e.preventDefault();
            run(items[current]);
          }
        }}
      />
      <ul id="choices" role="listbox" aria-label="Choices">
        {items.map((item, index) => (
          <li
            key={index}
            id={`choice-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => run(item)}
          >
            <span class="fn">{visible(item.text)}</span>
            <span class="at">{visible(item.note)}</span>
          </li>
        ))}
      </ul>
      <p class="hint">
        {error ||
          (answer && asked
            ? `${grouped(answer.all)} functions match, self cost ${grouped(answer.matched[eventName.value])} (${percentOf(answer.matched[eventName.value], total.value)})`
            : "Enter runs, Esc closes")}
      </p>
    </Dialog>
  );
}

const KEYS: [string, string][] = [
  ["Ctrl K", "Search and commands"],
  ["1 … 9", "Views, from the top of the rail"],
  ["/", "Filter of this view"],
  ["?", "This list"],
  ["e", "Next event type"],
  ["i", "Inclusive or self cost"],
  ["r", "Fold recursion"],
  ["s", "Source of the selection"],
  ["Alt ← →", "Back and forward"],
  ["Esc", "Close, or one level up"],
  ["Arrows", "Move within tables and pictures"],
  ["Enter", "Zoom into the frame, go to the function"],
  ["Home", "Whole flame graph"],
  ["+ − 0", "Zoom of the call graph"],
  ["t", "Picture as a table"],
];
export function Help() {
  return (
    <Dialog label="Keys">
      <h2>Keys</h2>
      <table class="keys">
        <tbody>
          {KEYS.map(([key, text]) => (
            <tr key={key}>
              <th scope="row">
                <kbd>{key}</kbd>
              </th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">
        A cost with ~ and a dotted line is an estimate: the profile does not determine it. Percentages are of
        the total of the event type, unless the column says otherwise.
      </p>
      <button
        autofocus
        onClick={() => {
          overlay.value = "";
        }}
      >
        Close
      </button>
    </Dialog>
  );
}
