import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Answers, Costs, Exact, Question } from "../answers";
import { base, grouped, percentOf, share, visible } from "../format";
import { announce, ask, eventName, place, scopeKey, select, total } from "../state";

/** The answer to a question, asked again when the scope changes; the last one stays until the next is there. */
export function useAnswer<Q extends Question>(
  question: Q | null,
): { answer: Answers[Q["kind"]] | null; error: string } {
  const [state, set] = useState<{ answer: Answers[Q["kind"]] | null; error: string }>({
    answer: null,
    error: "",
  });
  const key = scopeKey.value + JSON.stringify(question);
  useEffect(() => {
    if (question === null) {
      set({ answer: null, error: "" });
      return;
    }
    const control = new AbortController();
    ask(question, control.signal).then(
      (answer) => {
        if (!control.signal.aborted) set({ answer, error: "" });
      },
      (error: Error) => {
        if (!control.signal.aborted) set({ answer: null, error: error.message });
      },
    );
    return () => control.abort();
  }, [key]);
  return state;
}

/** Sets the width of an element through the object model: the policy of the page allows no style attribute. */
export function Bar({
  of,
  whole,
  kind,
}: {
  of: Exact | null | undefined;
  whole: Exact | null | undefined;
  kind?: string;
}) {
  const ref = useRef<HTMLSpanElement>(null);
  const width = Math.max(0, Math.min(1, share(of, whole)));
  useEffect(() => {
    if (ref.current) ref.current.style.width = `${width * 100}%`;
  }, [width]);
  return (
    <span class={`bar ${kind ?? ""}`} aria-hidden="true">
      <span ref={ref} />
    </span>
  );
}

/** A cost with its share of the total and a bar behind it. */
export function Cost({
  costs,
  whole,
  estimate,
  bound,
  bar = true,
  inner,
}: {
  costs: Costs | null | undefined;
  whole?: Exact;
  estimate?: boolean;
  bound?: boolean;
  bar?: boolean;
  inner?: boolean;
}) {
  const value = costs?.[eventName.value];
  if (value === undefined || value === null) return <span class="faint">–</span>;
  const of = whole ?? total.value;
  return (
    <span
      class={`cost${Number(value) === 0 ? " faint" : ""}${estimate ? " estimate" : ""}`}
      title={estimate ? "an estimate: the profile does not determine it" : undefined}
    >
      {bar && !inner ? <Bar of={value} whole={of} /> : null}
      <span class="number">
        {bound ? "≤" : estimate ? "~" : ""}
        {grouped(value)}
      </span>
      <span class="share" title={inner ? "Levels of a recursion overlap: their sum has no share" : undefined}>
        {inner ? "–" : percentOf(value, of)}
      </span>
    </span>
  );
}

/** A function as a button: selects it, in another view if one is given. */
export function Name({
  row,
  view,
  bare,
}: {
  row: { id: number | null; name: string; file: string; object: string };
  view?: "functions" | "callers" | "source";
  bare?: boolean;
}) {
  const at = base(row.file) || base(row.object);
  const text = (
    <>
      <span class="fn">{visible(row.name)}</span>
      {at && !bare ? <span class="at">{at}</span> : null}
    </>
  );
  if (row.id === null) return <span class="name">{text}</span>;
  return (
    <button
      class="name"
      title={`${visible(row.name)}\n${visible(row.file)}\n${visible(row.object)}`}
      aria-current={place.value.function === row.id ? "true" : undefined}
      onClick={() => select(row, view)}
      onDblClick={() => select(row, "callers")}
    >
      {text}
    </button>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty" role="status">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}

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
  return answer ? (
    <>{children}</>
  ) : (
    <div class="empty" aria-busy="true">
      <p>Calculating…</p>
    </div>
  );
}

export function NeedFunction({ what }: { what: string }) {
  return (
    <Empty title="No function is selected">
      Select a function in Functions, in the flame graph or with Ctrl-K: this view shows {what}.
    </Empty>
  );
}

/** Copies a table, or saves it. */
export function Export({
  name,
  rows,
  json,
}: {
  name: string;
  rows: () => (string | number)[][];
  json: unknown;
}) {
  const cell = (value: string | number) =>
    /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
  const save = (text: string, type: string, end: string) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = `${name}.${end}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return (
    <span class="export" role="group" aria-label="Copy and save">
      <button
        onClick={() =>
          navigator.clipboard
            .writeText(
              rows()
                .map((row) => row.join("\t"))
                .join("\n"),
            )
            .then(
              () => {
                announce.value = "copied";
              },
              () => {
                announce.value = "the browser refused to copy";
              },
            )
        }
      >
        Copy
      </button>
      <button
        onClick={() =>
          save(
            rows()
              .map((row) => row.map(cell).join(","))
              .join("\r\n"),
            "text/csv",
            "csv",
          )
        }
      >
        CSV
      </button>
      <button onClick={() => save(JSON.stringify(json, null, 1), "application/json", "json")}>JSON</button>
    </span>
  );
}

/** Says that a list was cut. */
export function Hidden({ shown, all, what }: { shown: number; all: number; what: string }) {
  return all > shown ? (
    <p class="hidden">
      {grouped(all - shown)} more {what} {all - shown === 1 ? "is" : "are"} not shown.
    </p>
  ) : null;
}
