// The screen before there is a profile: a choice of files, or how far loading is.
import { useEffect, useRef, useState } from "preact/hooks";
import { grouped, visible } from "../format";
import { canOpen, open, opening } from "../opening";
import type { Progress } from "../worker/messages";

const STAGES: Record<Progress["stage"], string> = {
  library: "Loading the viewer",
  read: "Reading the files",
  load: "Loading the profile",
};

function Loading({ progress }: { progress: Progress }) {
  const megabytes = (bytes: number) => grouped(Math.round(bytes / 1e6));
  const isCounted = progress.total > 0;
  return (
    <div class="opening" role="status" aria-busy="true">
      <h1>{STAGES[progress.stage]}</h1>
      <progress
        aria-label={STAGES[progress.stage]}
        max={1}
        {...(isCounted ? { value: share(progress) } : {})}
      />
      <p class="dim">
        {isCounted ? `${megabytes(progress.bytes)} of ${megabytes(progress.total)} MB` : "\u00a0"}
      </p>
    </div>
  );
}

function share({ bytes, total }: Progress): number {
  return Math.min(bytes / total, 1);
}

function Picker({ label, id, onPick }: { label: string; id: string; onPick: (files: File[]) => void }) {
  return (
    <label class="picker">
      <span>{label}</span>
      <input id={id} type="file" multiple onChange={(e) => onPick([...(e.currentTarget.files ?? [])])} />
    </label>
  );
}

function Choose({ reason, canGoBack }: { reason: string; canGoBack: boolean }) {
  const base = useRef<File[]>([]);
  const [hasBase, setHasBase] = useState(false);
  return (
    <div class="opening">
      <h1>{canOpen ? "Open a profile" : "This page cannot show its profile"}</h1>
      {reason ? (
        <p class="warn" role="alert">
          {visible(reason)}
        </p>
      ) : null}
      {canOpen ? (
        <>
          <p>
            Drop files in the Callgrind format here, or choose them: several files are one recording, such as
            its threads. They may be compressed with gzip. They are read in this page, and nothing is sent
            anywhere.
          </p>
          <Picker id="profile-files" label="Profile" onPick={(files) => open(files, base.current)} />
          <Picker
            id="base-files"
            label="To compare, first choose the profile from before the change here"
            onPick={(files) => {
              base.current = files;
              setHasBase(files.length > 0);
            }}
          />
          <p role="status">{hasBase ? "Now choose the profile to compare with it." : ""}</p>
        </>
      ) : null}
      {canGoBack ? (
        <p>
          <button
            onClick={() => {
              opening.value = null;
            }}
          >
            Back to the profile
          </button>
        </p>
      ) : null}
    </div>
  );
}

/** Takes files that are dropped anywhere in the page. Returns `true` while some are above it. */
export function useDrop(): boolean {
  const [isOver, set] = useState(false);
  useEffect(() => {
    if (!canOpen) return;
    const over = (event: DragEvent) => {
      event.preventDefault();
      set(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) set(false);
    };
    const drop = (event: DragEvent) => {
      event.preventDefault();
      set(false);
      open(event.dataTransfer?.files ?? [], []);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
  return isOver;
}

export function OpeningScreen() {
  const state = opening.value;
  if (state === null) return null;
  return (
    <main class="main opening-screen" aria-label="Open a profile">
      {state.stage === "choose" ? <Choose {...state} /> : <Loading progress={state} />}
    </main>
  );
}
