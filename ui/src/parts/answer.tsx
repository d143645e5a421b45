import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Answers, Question } from "../answers";
import { grouped } from "../format";
import { place } from "../place";
import { ask, ignoresFunctions, isMissing, scopeKey, selected } from "../state";

export interface Asked<K extends Question["kind"]> {
  answer: Answers[K] | null;
  error: string;
  /** It is the answer, or the error, of the question as it is now. */
  isCurrent: boolean;
}

/** The answer to a question, asked again when the scope changes; the last one stays until the next is there. */
export function useAnswer<Q extends Question>(question: Q | null): Asked<Q["kind"]> {
  const key = scopeKey.value + JSON.stringify(question);
  const [state, set] = useState<{ answer: Answers[Q["kind"]] | null; error: string; key: string }>({
    answer: null,
    error: "",
    key: "",
  });
  useEffect(() => {
    if (question === null) {
      set({ answer: null, error: "", key });
      return;
    }
    const control = new AbortController();
    ask(question, control.signal).then(
      (answer) => {
        if (!control.signal.aborted) set({ answer, error: "", key });
      },
      (error: Error) => {
        if (!control.signal.aborted) set({ answer: null, error: error.message, key });
      },
    );
    return () => control.abort();
  }, [key]);
  return { answer: state.answer, error: state.error, isCurrent: state.key === key };
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty" role="status">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}

/** The answer's content, or the reason why there is none yet. */
export function Status({
  error,
  answer,
  children,
}: {
  error: string;
  answer: unknown;
  children?: ComponentChildren;
}) {
  if (error) return <Empty title="No answer">{error}</Empty>;
  if (answer) return <>{children}</>;
  return (
    <div class="empty" aria-busy="true">
      <p>Calculating…</p>
    </div>
  );
}

/** In place of a view of one function, if none is selected or the profile does not have it. */
export function NeedFunction({ what }: { what: string }) {
  if (isMissing.value) {
    return (
      <Empty title="Not in this profile">
        The address names the function {place.value.name}, which this profile does not have. Select another
        one in Functions or with Ctrl-K.
      </Empty>
    );
  }
  if (selected.value === undefined) return <Status error="" answer={null} />;
  return (
    <Empty title="No function is selected">
      Select a function in Functions, in the flame graph or with Ctrl-K: this view shows {what}.
    </Empty>
  );
}

/** Says that a list was cut. */
export function Hidden({ shown, all, what }: { shown: number; all: number; what: string }) {
  if (all <= shown) return null;
  return (
    <p class="hidden">
      {grouped(all - shown)} more {all - shown === 1 ? `${what.replace(/s$/, "")} is` : `${what} are`} not
      shown.
    </p>
  );
}

/** Says that hidden functions and a focus change nothing here. */
export function AllCallsNote() {
  return ignoresFunctions.value ? (
    <p class="note">
      These are the costs of all calls: what lines, instructions and parts cost without hidden or left-out
      functions, or in a focus, is not known. 100% is the cost without any of these.
    </p>
  ) : null;
}
