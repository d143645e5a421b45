import { Cost, Hidden, Name, Status, useAnswer } from "../parts/common";
import { callCount, grouped, visible } from "../format";
import { event, eventName, go, summary, total } from "../state";
import type { Share } from "../answers";

function Shares({ title, rows, group }: { title: string; rows: Share[]; group: "object" | "file" | null }) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h3>{title}, by self cost</h3>
      <table>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <td class="num">
                <Cost costs={row.self} />
              </td>
              <td>
                {group ? (
                  <button
                    class="name"
                    onClick={() =>
                      go({ view: "functions", within: `${group}:${row.name}`, group: "function" })
                    }
                  >
                    {visible(row.name)}
                  </button>
                ) : (
                  visible(row.name)
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
export function Overview() {
  const { answer, error } = useAnswer({ kind: "overview", limit: 8 });
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <h1>{visible(answer.title)}</h1>
          <p>
            <span class="big">{grouped(total.value)}</span> {eventName.value}
            {event.value?.long_name ? `, ${event.value.long_name}` : ""}{" "}
            <span class="dim">
              in {grouped(answer.function_count)} functions, {grouped(answer.selected_parts)} of{" "}
              {grouped(answer.parts)} {answer.parts === 1 ? "part" : "parts"}
              {answer.creator ? `, written by ${visible(answer.creator)}` : ""}. 100% is this total.
            </span>
          </p>
          {answer.damage.map((row) => (
            <p class="warn" key={row.text}>
              {visible(row.text)}
            </p>
          ))}
          {answer.notes.map((note) => (
            <p class="note" key={note}>
              {visible(note)}
            </p>
          ))}
          {answer.findings > 0 ? (
            <p>
              <button onClick={() => go({ view: "findings" })}>
                {grouped(answer.findings)} findings about the file
              </button>
            </p>
          ) : null}
          <div class="cards">
            <section>
              <h3>Highest self cost</h3>
              <table>
                <thead>
                  <tr>
                    <th scope="col" class="num">
                      Self
                    </th>
                    <th scope="col" class="num">
                      Calls
                    </th>
                    <th scope="col">Function</th>
                  </tr>
                </thead>
                <tbody>
                  {answer.hottest.map((row) => (
                    <tr key={row.id}>
                      <td class="num">
                        <Cost costs={row.self} />
                      </td>
                      <td class="num">{callCount(row)}</td>
                      <td>
                        <Name row={row} view="callers" />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <Hidden shown={answer.hottest.length} all={answer.function_count} what="functions" />
              <button onClick={() => go({ view: "functions" })}>All functions</button>
            </section>
            {answer.path ? (
              <section>
                <h3>Most expensive path</h3>
                <table>
                  <thead>
                    <tr>
                      <th scope="col" class="num">
                        Inclusive
                      </th>
                      <th scope="col">Function</th>
                    </tr>
                  </thead>
                  <tbody>
                    {answer.path.steps.map((row, i) => (
                      <tr key={i}>
                        <td class="num">
                          <Cost costs={row.inclusive} estimate={row.is_estimate} />
                        </td>
                        <td>
                          <Name row={row} view="callers" />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
                <button onClick={() => go({ view: "tree" })}>Call tree</button>
              </section>
            ) : null}
            <Shares title="Objects" rows={answer.shares.objects} group="object" />
            <Shares title="Files" rows={answer.shares.files} group="file" />
            <Shares title="Threads" rows={answer.shares.threads} group={null} />
            <Shares title="Parts" rows={answer.shares.parts} group={null} />
          </div>
          {summary.value?.has.calls === false ? (
            <p class="note">
              The profile has no calls, so inclusive costs equal self costs: record with Callgrind for calls.
            </p>
          ) : null}
        </>
      ) : null}
    </Status>
  );
}
