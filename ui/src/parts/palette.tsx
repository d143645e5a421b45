import { useEffect, useState } from "preact/hooks";
import { ACTIONS, eventActions, isPossible } from "../actions";
import type { SearchResults } from "../answers";
import { base, grouped, isPattern, percentOf, visible } from "../format";
import { go, place, type FunctionKey } from "../place";
import { announce, eventName, overlay, select, total } from "../state";
import { useAnswer } from "./answer";
import { Dialog } from "./dialog";

interface Choice {
  text: string;
  note: string;
  run: () => void;
}

const RECENT = "gristmill.recent";
const MAX_RECENT = 5;
const MAX_FOUND = 30;
const SEARCH_DELAY_MILLISECONDS = 80;

function recentIds(): string[] {
  return (localStorage.getItem(RECENT) ?? "").split(" ").filter((id) => id !== "");
}

/** Orders commands: the beginning of the text, then of a word, then anywhere. Negative if it does not match. */
function rank(text: string, wanted: string): number {
  const at = text.toLowerCase().indexOf(wanted);
  if (at <= 0) return at;
  return /\W/.test(text[at - 1]!) ? 1 : 2;
}

function commands(wanted: string): Choice[] {
  const recent = recentIds();
  const age = (id: string) => (recent.includes(id) ? recent.indexOf(id) : MAX_RECENT);
  return [...ACTIONS, ...eventActions()]
    .filter(isPossible)
    .map((action) => ({ action, rank: rank(action.text, wanted) }))
    .filter((found) => found.rank >= 0)
    .sort((a, b) => a.rank - b.rank || age(a.action.id) - age(b.action.id))
    .map(({ action }) => ({
      text: action.text,
      note: [age(action.id) < MAX_RECENT ? "recent" : "", action.note ?? "", action.key ?? ""]
        .filter((part) => part !== "")
        .join(" · "),
      run: () => {
        const ids = [action.id, ...recent.filter((id) => id !== action.id)].slice(0, MAX_RECENT);
        localStorage.setItem(RECENT, ids.join(" "));
        action.run();
      },
    }));
}

function isAnythingFound({ functions, files, objects }: SearchResults): boolean {
  return functions.length + files.length + objects.length > 0;
}

/** The file or the object of a function, if another one has its name; both if one is not enough. */
function whereOf(row: FunctionKey, all: readonly FunctionKey[]): string {
  const others = all.filter((one) => one !== row && one.name === row.name);
  if (others.length === 0) return "";
  const file = base(row.file);
  if (file !== "" && others.every((one) => base(one.file) !== file)) return file;
  const object = base(row.object);
  if (object !== "" && others.every((one) => base(one.object) !== object)) return object;
  return [row.file, row.object].filter((part) => part !== "" && part !== "???").join(" · ");
}

/** What the profile has of the text. It is current once it is about this text and not about one before. */
function useFound(text: string) {
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), SEARCH_DELAY_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [text]);
  const asText = useAnswer(
    asked === "" ? null : { kind: "search", text: asked, is_pattern: false, limit: MAX_FOUND },
  );
  // Names have brackets and dots: text that nothing has may be a pattern.
  const isText = !asText.isCurrent || asText.answer === null || isAnythingFound(asText.answer);
  const asPattern = useAnswer(
    isText || !isPattern(asked) ? null : { kind: "search", text: asked, is_pattern: true, limit: MAX_FOUND },
  );
  const { answer, error } = asPattern.answer && isAnythingFound(asPattern.answer) ? asPattern : asText;
  const isCurrent = asText.isCurrent && asPattern.isCurrent;
  const name = eventName.value;
  const view = place.value.view === "overview" ? "callers" : place.value.view;
  const found: Choice[] =
    asked === "" || !answer
      ? []
      : [
          ...answer.functions.map((row) => ({
            text: row.name,
            note: [whereOf(row, answer.functions), `${percentOf(row.self[name], total.value)} self`]
              .filter((part) => part !== "")
              .join(" · "),
            run: () => select(row, view),
          })),
          ...answer.files.map((path) => ({
            text: path,
            note: "file",
            run: () => go({ view: "functions", within: `file:${path}`, group: "function", filter: "" }),
          })),
          ...answer.objects.map((path) => ({
            text: path,
            note: "object",
            run: () => go({ view: "functions", within: `object:${path}`, group: "function", filter: "" }),
          })),
        ];
  const matched = answer && asked ? answer.matched[name] : undefined;
  const summary =
    matched === undefined
      ? "Enter runs, Esc closes"
      : `${grouped(answer!.all)} ${answer!.all === 1 ? "function matches" : "functions match"}, self cost ${grouped(matched)} ${name} (${percentOf(matched, total.value)})`;
  return { found, summary: error || summary, isCurrent: asked === text && (asked === "" || isCurrent) };
}

/** One box for functions, files, objects and commands. */
export function Palette() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [isEntered, setIsEntered] = useState(false);
  const onlyCommands = text.startsWith(">");
  const { found, summary, isCurrent } = useFound(onlyCommands ? "" : text.trim());
  const items = [...found, ...commands(text.replace(/^>/, "").trim().toLowerCase())];
  const current = Math.min(at, items.length - 1);
  useEffect(() => {
    document.getElementById(`choice-${current}`)?.scrollIntoView({ block: "nearest" });
  }, [current]);

  const run = (item: Choice | undefined) => {
    if (!item) return;
    overlay.value = "";
    item.run();
    announce.value = item.text;
  };
  // Enter is faster than the search: it means the first choice for the text as it is now, not one for a text before.
  useEffect(() => {
    if (!isEntered || !isCurrent) return;
    setIsEntered(false);
    run(items[current]);
  }, [isEntered, isCurrent]);
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") setAt(Math.min(items.length - 1, current + 1));
    else if (e.key === "ArrowUp") setAt(Math.max(0, current - 1));
    else if (e.key === "Enter") setIsEntered(true);
    else return;
    e.preventDefault();
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
        placeholder="Functions, files, objects and commands; > for commands only"
        autofocus
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setAt(0);
          setIsEntered(false);
        }}
        onKeyDown={onKeyDown}
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
      <p class="hint">{summary}</p>
    </Dialog>
  );
}
