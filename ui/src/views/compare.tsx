import { grouped, percentOf, signed, visible } from "../format";
import { eventName, go, place, summary } from "../state";
import { Empty, Name, Status, useAnswer } from "../parts/common";

export function CompareView() {
  const hasBase = summary.value?.base != null;
  const { answer, error } = useAnswer(
    hasBase
      ? { kind: "changes", group: "function", sort: "self_change", filter: place.value.filter, limit: 300 }
      : null,
  );
  if (!hasBase)
    return (
      <Empty title="Nothing to compare with">
        Start gristmill view with --base FILE to compare with an earlier profile.
      </Empty>
    );
  const name = eventName.value,
    sum = answer?.totals[name];
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <h1>Changes since the base</h1>
          {sum ? (
            <p>
              {grouped(sum.base)} → {grouped(sum.new)} {name}: {signed(sum.change)} (
              {percentOf(sum.change, sum.base)} of the base)
            </p>
          ) : null}
          {answer.environment.map((row) => (
            <p class="warn" key={row.text}>
              {visible(row.text)}
            </p>
          ))}
          <ul>
            {answer.causes.slice(0, 8).map((cause) => (
              <li key={cause.text}>{visible(cause.text)}</li>
            ))}
          </ul>
          <div class="tools">
            <input
              class="filter"
              type="search"
              placeholder="Filter by name ( / )"
              aria-label="Filter by name"
              value={place.value.filter}
              onInput={(e) => go({ filter: e.currentTarget.value }, true)}
            />
            <span class="dim">
              {grouped(answer.on_both)} on both sides, {grouped(answer.new)} new, {grouped(answer.vanished)}{" "}
              gone
            </span>
          </div>
          <div class="scroll" tabIndex={0} role="region" aria-label="Changes">
            <table>
              <thead>
                <tr>
                  <th scope="col" class="num">
                    Self before
                  </th>
                  <th scope="col" class="num">
                    Self after
                  </th>
                  <th scope="col" class="num">
                    Change
                  </th>
                  <th scope="col">Side</th>
                  <th scope="col">Function</th>
                </tr>
              </thead>
              <tbody>
                {answer.functions.map((row, i) => (
                  <tr key={i}>
                    <td class="num">{grouped(row.self[name]?.base)}</td>
                    <td class="num">{grouped(row.self[name]?.new)}</td>
                    <td class="num">
                      {Number(row.self[name]?.change ?? 0) > 0
                        ? "▲ "
                        : Number(row.self[name]?.change ?? 0) < 0
                          ? "▼ "
                          : ""}
                      {signed(row.self[name]?.change ?? 0)}
                    </td>
                    <td>{row.on === "vanished" ? "gone" : row.on === "new" ? "new" : "both"}</td>
                    <td>
                      <Name row={row} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {answer.rest.functions > 0 ? (
            <p class="hidden">
              {grouped(answer.rest.functions)} more functions are not shown; their self costs change by{" "}
              {signed(answer.rest.self[name] ?? 0)}.
            </p>
          ) : null}
        </>
      ) : null}
    </Status>
  );
}
