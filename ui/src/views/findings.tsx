import { visible } from "../format";
import { Hidden, Status, useAnswer } from "../parts/common";

export function FindingsView() {
  const { answer, error } = useAnswer({ kind: "findings", limit: 200 });
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <h1>Findings</h1>
          <p>{visible(answer.verdict)}</p>
          {answer.rows.length === 0 ? null : (
            <table>
              <thead>
                <tr>
                  <th scope="col">Severity</th>
                  <th scope="col">Where</th>
                  <th scope="col">What</th>
                  <th scope="col">Rule</th>
                </tr>
              </thead>
              <tbody>
                {answer.rows.map((row, i) => (
                  <tr key={i}>
                    <td>{row.severity}</td>
                    <td>
                      {visible(row.file)}
                      {row.line !== null ? `:${row.line}` : ""}
                    </td>
                    <td>{visible(row.text)}</td>
                    <td class="fn">{row.rule}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          <Hidden shown={answer.rows.length} all={answer.all} what="findings" />
        </>
      ) : null}
    </Status>
  );
}
