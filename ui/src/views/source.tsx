import { useEffect } from "preact/hooks";
import { callCount, grouped, visible } from "../format";
import { eventName, go, place, select } from "../state";
import { Cost, NeedFunction, Status, useAnswer } from "../parts/common";

export function SourceView() {
  const { function: id, source } = place.value;
  const { answer, error } = useAnswer(
    id === null && !source ? null : { kind: "source", function: id, file: source || null },
  );
  const name = eventName.value;
  let hottest = -1,
    most = 0;
  answer?.lines.forEach((line) => {
    const cost = Number(line.self?.[name] ?? 0);
    if (cost > most) {
      most = cost;
      hottest = line.line;
    }
  });
  useEffect(() => {
    document.getElementById(`line-${hottest}`)?.scrollIntoView({ block: "center" });
  }, [answer, hottest]);
  if (id === null && !source) return <NeedFunction what="its source, with the cost of each line" />;
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <div class="tools">
            <h1>{visible(answer.function?.name ?? answer.files[answer.shown ?? 0]?.path ?? "")}</h1>
            {answer.files.length > 0 ? (
              <label>
                File{" "}
                <select
                  value={answer.files[answer.shown ?? 0]?.path ?? ""}
                  onChange={(e) => go({ source: e.currentTarget.value })}
                >
                  {answer.files.map((file) => (
                    <option key={file.path} value={file.path}>
                      {visible(file.path)}
                    </option>
                  ))}
                </select>
              </label>
            ) : null}
          </div>
          {answer.files[answer.shown ?? 0]?.remark ? (
            <p class="warn">{visible(answer.files[answer.shown ?? 0]!.remark!)}</p>
          ) : null}
          {Number(answer.without_line[name] ?? 0) > 0 ? (
            <p class="note">
              {grouped(answer.without_line[name])} {name} have no line.
            </p>
          ) : null}
          {answer.lines.length === 0 ? (
            <p class="empty">
              The profile has no lines for this: compile with -g and record with line numbers.
            </p>
          ) : (
            <div class="scroll" tabIndex={0} role="region" aria-label="Source">
              <table class="src">
                <thead>
                  <tr>
                    <th scope="col" class="num">
                      Line
                    </th>
                    <th scope="col" class="num">
                      Self
                    </th>
                    <th scope="col" class="num">
                      With calls
                    </th>
                    <th scope="col">Source</th>
                  </tr>
                </thead>
                <tbody>
                  {answer.lines.map((line) => (
                    <>
                      <tr key={line.line} id={`line-${line.line}`} aria-selected={line.line === hottest}>
                        <td class="num faint">{line.line}</td>
                        <td class="num">{line.self ? <Cost costs={line.self} /> : null}</td>
                        <td class="num">
                          {line.inclusive && line.calls.length > 0 ? (
                            <Cost costs={line.inclusive} bar={false} />
                          ) : null}
                        </td>
                        <td>
                          <pre>
                            {line.text.map((span, i) => (
                              <span key={i} class={span.kind ? `k-${span.kind}` : ""}>
                                {visible(span.text.replaceAll("\t", "    "))}
                              </span>
                            ))}
                          </pre>
                        </td>
                      </tr>
                      {line.calls.map((call, i) => (
                        <tr class="callrow" key={`${line.line}.${i}`}>
                          <td />
                          <td />
                          <td class="num">
                            <Cost
                              costs={call.cost}
                              bar={false}
                              inner={call.is_inner || call.function === id}
                            />
                          </td>
                          <td>
                            ↳ {callCount(call)} ×{" "}
                            <button
                              class="name fn"
                              onClick={() =>
                                select({ id: call.function, name: call.name, file: "", object: "" })
                              }
                            >
                              {visible(call.name)}
                            </button>
                          </td>
                        </tr>
                      ))}
                    </>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </>
      ) : null}
    </Status>
  );
}
