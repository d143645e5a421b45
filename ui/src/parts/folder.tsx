// Sources from a folder that the user chooses in the browser. Their text stays in the page: the server is not asked, and learns
// nothing.
import { computed, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Source, SourceLine } from "../answers";
import { grouped, visible } from "../format";
import { announce } from "../state";

/** Larger files are hardly sources. */
const MAX_BYTES = 4_000_000;
/** Browsers hand over each file of a folder. */
const MAX_FILES = 200_000;

/** The chosen files, by the last component of their paths. */
const files = signal<ReadonlyMap<string, File[]>>(new Map());
const folderName = signal("");
export const hasFolder = computed(() => files.value.size > 0);

function pathOf(file: File): string {
  return file.webkitRelativePath || file.name;
}

function take(chosen: FileList): void {
  const byName = new Map<string, File[]>();
  for (const file of [...chosen].slice(0, MAX_FILES)) {
    if (file.size > MAX_BYTES) continue;
    const known = byName.get(file.name);
    if (known) known.push(file);
    else byName.set(file.name, [file]);
  }
  files.value = byName;
  folderName.value = pathOf(chosen[0]!).split("/")[0] ?? "";
  announce.value = `${grouped(chosen.length)} files of the folder can be shown`;
}

/** The count of components at the end that both paths have. */
function commonEnd(a: string, b: string): number {
  const [one, other] = [a, b].map((path) => path.split(/[\\/]/).reverse()) as [string[], string[]];
  let count = 0;
  while (count < one.length && count < other.length && one[count] === other[count]) count++;
  return count;
}

/** The file of the folder for a path of the profile: that with the longest end in common. Two equally good ones are none. */
export function fileFor(path: string, among: ReadonlyMap<string, File[]>): File | "several" | undefined {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  const scored = (among.get(name) ?? [])
    .map((file) => ({ file, score: commonEnd(path, pathOf(file)) }))
    .sort((a, b) => b.score - a.score);
  const [best, second] = scored;
  return best && second && best.score === second.score ? "several" : best?.file;
}

/** The button that lets the user choose a folder. */
export function FolderChoice() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.setAttribute("webkitdirectory", "");
  }, []);
  return (
    <>
      <button
        title="The text stays in this page: nothing is sent, and the server reads no other file"
        onClick={() => input.current?.click()}
      >
        Choose a folder of sources…
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Folder of sources"
        onChange={(e) => {
          const chosen = e.currentTarget.files;
          if (chosen && chosen.length > 0) take(chosen);
        }}
      />
    </>
  );
}

export interface LocalText {
  lines: string[];
  path: string;
}

/** The text of a file of the folder; null without one. */
export function useLocalText(path: string): { text: LocalText | null; problem: string } {
  const among = files.value;
  const [state, setState] = useState<{ text: LocalText | null; problem: string }>({
    text: null,
    problem: "",
  });
  useEffect(() => {
    const file = path === "" ? undefined : fileFor(path, among);
    if (file === undefined || file === "several") {
      const name = visible(path.split(/[\\/]/).at(-1) ?? "");
      const problem =
        file === "several"
          ? `The folder ${folderName.value} has several files ${name} that fit equally: choose a folder above or below.`
          : among.size > 0
            ? `The folder ${folderName.value} has no file ${name}.`
            : "";
      setState({ text: null, problem });
      return;
    }
    let isCurrent = true;
    file.text().then(
      (text) => {
        if (isCurrent) setState({ text: { lines: text.split(/\r?\n/), path: pathOf(file) }, problem: "" });
      },
      () => {
        if (isCurrent) setState({ text: null, problem: `The browser cannot read ${pathOf(file)}.` });
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [path, among]);
  return state;
}

/** An answer without text, with that of a file of the folder. Costs stay those of the answer. */
export function withText(answer: Source, { lines }: LocalText): Source {
  const known = new Map(answer.lines.map((line) => [line.line, line]));
  const merged = lines.map((text, index): SourceLine => {
    const line = index + 1;
    const empty = { line, self: null, inclusive: null, calls: [], jumps: [] };
    return { ...(known.get(line) ?? empty), text: text === "" ? [] : [{ kind: "", text }] };
  });
  // The profile may name any line: those that the text lacks are few, and no number between them is looked at.
  const before = answer.lines.filter(({ line }) => line < 1);
  const after = answer.lines.filter(({ line }) => line > lines.length);
  return { ...answer, lines: [...before, ...merged, ...after] };
}

/** Says where a text is from, and lets the user take another folder. */
export function FolderNote({ text, problem }: { text: LocalText | null; problem: string }) {
  if (text) {
    return (
      <p class="note">
        The text is that of {visible(text.path)} in the folder that you chose; nobody checked that it is the
        measured version. <FolderChoice />
      </p>
    );
  }
  return problem ? <p class="warn">{problem}</p> : null;
}
