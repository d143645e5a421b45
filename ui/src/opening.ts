// The library that the page asks, and the files that it is about: those of a server, of this file, or of the visitor.
import { signal } from "@preact/signals";
import { HttpLibrary } from "./http-library";
import type { Library } from "./library";
import { token } from "./place";
import { WorkerLibrary } from "./worker-library";
import type { GivenFile, Progress, Role } from "./worker/messages";

/** The state before there is a profile: files are to be chosen, or are loaded. Null once there is one. */
export type Opening = { stage: "choose"; reason: string; canGoBack: boolean } | Progress | null;
export const opening = signal<Opening>(null);

/** The manifest of a page that has its files in it. */
interface Exported {
  /** The contents are the elements `file-0`, `file-1`, … */
  files: { name: string; role: Role }[];
  /** What the files lack. */
  notes: string[];
}

/** How the page came: from `gristmill view`, from web space, or as one file. */
const carrier = document.documentElement.dataset["carrier"] ?? "server";

/** `true` if programs can be read: by a server only. */
export const hasPrograms = carrier === "server";

/** `true` if the visitor gives the files. */
export const canOpen = carrier === "site";

/** What the profile of this page lacks. */
export const notes = signal<string[]>([]);

/** Makes the library of this page. `onReload` is called when its files were replaced. */
export function libraryOf(onReload: () => void): Library {
  if (carrier === "export") return exported();
  if (carrier === "site") return site(onReload);
  return new HttpLibrary(token, onReload);
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

function exported(): Library {
  const library = new WorkerLibrary({ text: textOf("library") }, (progress) => {
    opening.value = progress;
  });
  const manifest = JSON.parse(textOf("manifest")) as Exported;
  notes.value = manifest.notes;
  const files = manifest.files.map((file, nth) => ({ ...file, bytes: textOf(`file-${nth}`) }));
  opening.value = { stage: "library", bytes: 0, total: 0 };
  library.open(files).then(
    () => {
      opening.value = null;
    },
    (error: Error) => {
      opening.value = { stage: "choose", reason: error.message, canGoBack: false };
    },
  );
  return library;
}

let openFiles: (files: GivenFile[]) => void = () => undefined;

/** Opens files of the visitor. */
export function open(profile: Iterable<File>, base: Iterable<File>): void {
  const given = (files: Iterable<File>, role: Role): GivenFile[] =>
    [...files].map((file) => ({ name: file.name, role, bytes: file }));
  const files = [...given(profile, "profile"), ...given(base, "base")];
  if (files.some((file) => file.role === "profile")) openFiles(files);
}

/** Asks the visitor for files. */
export function choose(): void {
  opening.value = { stage: "choose", reason: "", canGoBack: true };
}

function site(onReload: () => void): Library {
  const address = new URL("library.wasm", location.href).href;
  const library = new WorkerLibrary({ address }, (progress) => {
    opening.value = progress;
  });
  opening.value = { stage: "choose", reason: "", canGoBack: false };
  let isFirst = true;
  let last: GivenFile[];
  openFiles = (files) => {
    last = files;
    opening.value = { stage: "library", bytes: 0, total: 0 };
    library.open(files).then(
      () => {
        // The visitor chose others meanwhile, which come next.
        if (files !== last) return;
        if (!isFirst) onReload();
        isFirst = false;
        opening.value = null;
      },
      (error: Error) => {
        if (files === last) opening.value = { stage: "choose", reason: error.message, canGoBack: false };
      },
    );
  };
  return library;
}
