import { grouped, visible } from "../format";
import { go, summary } from "../state";
import { Cost, Hidden, Status, useAnswer } from "../parts/common";

export function PartsView() {
  const { answer, error } = useAnswer({ kind: "parts" });
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <h1>Parts, in the order of dumps</h1>
          {summary.value?.has.several_parts ? (
            <p>
              <button onClick={() => go({ parts: "" })}>Select all parts</button>
            </p>
          ) : (
            <p class="hint">
              The profile has one part. Callgrind writes more with --dump-every-bb, --dump-before or
              --separate-threads=yes.
            </p>
          )}
          <table>
            <thead>
              <tr>
                <th scope="col" class="num">
                  Self
                </th>
                <th scope="col" class="num">
                  Part
                </th>
                <th scope="col" class="num">
                  Thread
                </th>
                <th scope="col" class="num">
                  Process
                </th>
                <th scope="col">Trigger</th>
                <th scope="col">File</th>
              </tr>
            </thead>
            <tbody>
              {answer.parts.map((part, i) => (
                <tr key={i} aria-selected={part.is_selected}>
                  <td class="num">
                    <Cost costs={part.self} />
                  </td>
                  <td class="num">
                    {part.part !== null ? (
                      <button class="name" onClick={() => go({ parts: String(part.part) })}>
                        {grouped(part.part)}
                      </button>
                    ) : (
                      "–"
                    )}
                  </td>
                  <td class="num">{part.thread ?? "–"}</td>
                  <td class="num">{part.process ?? "–"}</td>
                  <td>{visible(part.trigger ?? "")}</td>
                  <td>{visible(part.file)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <Hidden shown={answer.parts.length} all={answer.all} what="parts" />
        </>
      ) : null}
    </Status>
  );
}
