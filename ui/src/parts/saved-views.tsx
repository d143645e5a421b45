// Views with names, which the browser keeps.
import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { announce, overlay, summary } from "../state";
import { address, goTo, VIEWS } from "../place";
import { Dialog } from "./dialog";
import { saveText } from "./save";

const KEY = "gristmill.views";
const MAX_VIEWS = 200;
const MAX_NAME = 200;

interface SavedView {
  name: string;
  /** The part of the address behind `#`, without the token. */
  address: string;
  /** The profile that it was saved for. */
  title: string;
}

/** Keeps only what is a saved view: the list can come from a file. */
function parse(text: string): SavedView[] {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return [];
    return list
      .flatMap((one: Partial<SavedView>) =>
        typeof one?.name === "string" && typeof one.address === "string"
          ? [{ name: one.name.slice(0, MAX_NAME), address: one.address, title: String(one.title ?? "") }]
          : [],
      )
      .slice(0, MAX_VIEWS);
  } catch {
    return [];
  }
}

const saved = signal<SavedView[]>(parse(localStorage.getItem(KEY) ?? "[]"));

function keep(list: SavedView[]): void {
  saved.value = list.slice(0, MAX_VIEWS);
  localStorage.setItem(KEY, JSON.stringify(saved.value));
}

function titleNow(): string {
  return summary.value?.head.title || summary.value?.files[0]?.name || "";
}

/** The name of a view of the page, from its address. */
function viewName(at: string): string {
  const view = new URLSearchParams(at).get("view");
  return VIEWS.find(([key]) => key === view)?.[1] ?? "";
}

export function SavedViews() {
  const [name, setName] = useState("");
  const file = useRef<HTMLInputElement>(null);
  const title = titleNow();
  const add = (e: Event) => {
    e.preventDefault();
    const text = name.trim();
    if (text === "") return;
    const others = saved.value.filter((one) => one.name !== text || one.title !== title);
    keep([{ name: text, address: address(), title }, ...others]);
    setName("");
    announce.value = `saved the view as ${text}`;
  };
  return (
    <Dialog label="Saved views">
      <h2>Saved views</h2>
      <form class="form" onSubmit={add}>
        <label>
          Name of this view
          <input value={name} maxLength={MAX_NAME} onInput={(e) => setName(e.currentTarget.value)} />
        </label>
        <button type="submit" disabled={name.trim() === ""}>
          Save this view
        </button>
      </form>
      {saved.value.length === 0 ? (
        <p class="dim">
          A saved view has the selection, the filters and all other settings. The browser keeps it for this
          address: with gristmill view --port N it is there again the next time.
        </p>
      ) : (
        <ul class="saved-views">
          {saved.value.map((one, index) => (
            <li key={`${one.title} ${one.name}`}>
              <button
                class="name"
                onClick={() => {
                  overlay.value = "";
                  goTo(one.address);
                }}
              >
                <span>{one.name}</span>
                <span class="at">
                  {viewName(one.address)}
                  {one.title === title ? "" : ` · of ${one.title}`}
                </span>
              </button>
              <button
                aria-label={`Remove ${one.name}`}
                title="Remove"
                onClick={() => keep(saved.value.filter((_, other) => other !== index))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <p>
        <button
          disabled={saved.value.length === 0}
          onClick={() => saveText(JSON.stringify(saved.value, null, 1), "application/json", "views.json")}
        >
          Save all to a file
        </button>{" "}
        <button onClick={() => file.current?.click()}>Read from a file…</button>
        <input
          ref={file}
          type="file"
          accept="application/json"
          hidden
          aria-label="File of saved views"
          onChange={(e) => {
            void e.currentTarget.files?.[0]?.text().then((text) => {
              const more = parse(text);
              const isNew = (one: SavedView) =>
                !saved.value.some((known) => known.name === one.name && known.title === one.title);
              keep([...saved.value, ...more.filter(isNew)]);
              announce.value = `read ${more.length} views`;
            });
          }}
        />
      </p>
    </Dialog>
  );
}
