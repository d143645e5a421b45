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
      <Rules answer={answer} />
      {answer.rows.length === 0 ? null : (
        <table>
          <Heads numbers={[]} texts={["Severity", "Location", "Finding", "Rule"]} />
          <tbody>
            {answer.rows.map((row, index) => (
              <tr key={index}>
                <td>
                  <span class={`severity ${row.severity}`}>{row.severity}</span>
                </td>
                <td>
                  {visible(row.file)}
                  {row.line > 0 ? `:${row.line}` : ""}
                </td>
                <td>{visible(row.text)}</td>
                <td class="fn">{visible(row.rule)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Hidden shown={answer.rows.length} all={answer.all} what="findings" />
    </>
  );
}

/** The rules that found something, with their counts. */
function Rules({ answer }: { answer: Findings }) {
  if (answer.rules.length === 0) return null;
  return (
    <ul class="rules">
      {answer.rules.map((rule) => (
        <li key={rule.rule}>
          <b>{grouped(rule.count)}</b> {rule.severity}
          {rule.count === 1 ? "" : "s"}: {visible(rule.summary)} <span class="at fn">{rule.rule}</span>
        </li>
      ))}
    </ul>
  );
}
