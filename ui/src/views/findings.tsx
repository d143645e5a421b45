import { signal } from "@preact/signals";
import { Heads } from "../parts/rows";
import type { Findings } from "../answers";
import { grouped, visible } from "../format";
import { Hidden, Status, useAnswer } from "../parts/answer";
import { Export } from "../parts/save";

const MAX_ROWS = 200;

export function FindingsView() {
  const { answer, error } = useAnswer({ kind: "findings", limit: MAX_ROWS });
  return (
    <Status answer={answer} error={error}>
      {answer ? <Table answer={answer} /> : null}
    </Status>
  );
}

function Table({ answer }: { answer: Findings }) {
  const cells = () => [
    ["severity", "file", "line", "text", "rule"],
    ...answer.rows.map((row) => [row.severity, row.file, row.line, row.text, row.rule]),
  ];
  return (
    <>
      <div class="tools">
        <h1>Findings about the file</h1>
        <Export name="findings" json={answer} rows={cells} />
      </div>
      {answer.verdict.split("\n").map((line) => (
        <p key={line}>{visible(line)}</p>
      ))}
      {summed(answer.rules).map((rule) => (
        <Rule key={rule.rule} rule={rule} rows={answer.rows.filter((row) => row.rule === rule.rule)} />
      ))}
      <Hidden shown={answer.rows.length} all={answer.all} what="findings" />
    </>
  );
}

/** The rules of all files, each once. */
function summed(rules: Findings["rules"]): Findings["rules"] {
  const known = new Map<string, Findings["rules"][number]>();
  for (const rule of rules) {
    const before = known.get(rule.rule);
    known.set(rule.rule, before ? { ...before, count: before.count + rule.count } : rule);
  }
  return [...known.values()];
}

/** The rules whose findings are folded. The line of the rule with its count always stays. */
const folded = signal<ReadonlySet<string>>(new Set());

/** A rule that found something, with its first findings. */
function Rule({ rule, rows }: { rule: Findings["rules"][number]; rows: Findings["rows"] }) {
  const isFolded = folded.value.has(rule.rule);
  const toggle = () => {
    const next = new Set(folded.value);
    if (!next.delete(rule.rule)) next.add(rule.rule);
    folded.value = next;
  };
  return (
    <section class="rule">
      <h3>
        <button class="fold" aria-expanded={!isFolded} onClick={toggle}>
          <span aria-hidden="true">{isFolded ? "▸" : "▾"}</span>
          <span class={`severity ${rule.severity}`}>
            {grouped(rule.count)} {rule.severity}
            {rule.count === 1 ? "" : "s"}
          </span>
          <span>{visible(rule.summary)}</span>
          <span class="at fn">{visible(rule.rule)}</span>
        </button>
      </h3>
      {isFolded ? null : (
        <table>
          <Heads numbers={[]} texts={["Location", "Finding"]} />
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                <td class="found-at">
                  {visible(row.file)}
                  {row.line > 0 ? `:${row.line}` : ""}
                </td>
                <td>{visible(row.text)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {!isFolded && rule.count > rows.length ? (
        <p class="hidden">
          {grouped(rule.count - rows.length)} more of this rule: gristmill lint --all lists them.
        </p>
      ) : null}
    </section>
  );
}
