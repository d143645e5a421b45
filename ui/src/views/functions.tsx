import { useEffect, useRef, useState } from "preact/hooks";
import type { Group, Sort } from "../answers";
import { callCount, grouped, percentOf, visible } from "../format";
import { eventName, go, place, select, total } from "../state";
import { Cost, Empty, Export, Name, Status, useAnswer } from "../parts/common";

const ROW = 24,
  PAGE = 100,
  MAX_PIXELS = 8_000_000;
const GROUPS: Group[] = ["function", "object", "file", "directory", "class", "crate", "package", "cycle"];
export function Functions() {
  const { group, sort, ascending, filter, within, function: selected } = place.value;
  const [start, setStart] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const above = useRef<HTMLTableRowElement>(null),
    below = useRef<HTMLTableRowElement>(null);
  const colon = within.indexOf(":");
  const { answer, error } = useAnswer({
    kind: "functions",
    group,
    sort,
    ascending,
    filter,
    within: within ? { group: within.slice(0, colon) as Group, name: within.slice(colon + 1) } : null,
    start,
    count: PAGE * 2,
  });
  const all = answer?.all ?? 0;
  const height = Math.min(all * ROW, MAX_PIXELS);
  const shown = answer?.start ?? 0,
    count = answer?.rows.length ?? 0;
  useEffect(() => {
    setStart(0);
    if (box.current) box.current.scrollTop = 0;
  }, [group, sort, ascending, filter, within]);
  useEffect(() => {
    const top = all <= count ? 0 : (shown / Math.max(1, all - count)) * Math.max(0, height - count * ROW);
    if (above.current) above.current.style.height = `${top}px`;
    if (below.current) below.current.style.height = `${Math.max(0, height - top - count * ROW)}px`;
  }, [all, shown, count]);
  const onScroll = () => {
    const { scrollTop, clientHeight } = box.current!;
    const first = Math.round(
      (scrollTop / Math.max(1, height - clientHeight)) * Math.max(0, all - clientHeight / ROW),
    );
    setStart(Math.max(0, Math.floor((first - PAGE / 2) / PAGE) * PAGE));
  };
  const head = (name: string, key: Sort, num: boolean) => (
    <th
      scope="col"
      class={num ? "num" : ""}
      aria-sort={sort === key ? (ascending ? "ascending" : "descending") : undefined}
    >
      <button onClick={() => go({ sort: key, ascending: sort === key ? !ascending : !num })}>
        {name}
        {sort === key ? (ascending ? " ▲" : " ▼") : ""}
      </button>
    </th>
  );
  const move = (e: KeyboardEvent) => {
    const rows = answer?.rows ?? [],
      i = rows.findIndex((row) => row.id === selected);
    const next = e.key === "ArrowDown" ? rows[i + 1] : e.key === "ArrowUp" ? rows[i - 1] : undefined;
    if (next) {
      e.preventDefault();
      select(next);
      document.getElementById(`row-${next.id}`)?.scrollIntoView({ block: "nearest" });
    }
    if (e.key === "Enter" && i >= 0 && e.target === box.current) go({ view: "callers" });
  };
  return (
    <>
      <div class="tools">
        <label>
          Rows{" "}
          <select value={group} onChange={(e) => go({ group: e.currentTarget.value as Group, within: "" })}>
            {GROUPS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <input
          class="filter"
          type="search"
          placeholder="Filter by name ( / )"
          aria-label="Filter by name"
          value={filter}
          onInput={(e) => go({ filter: e.currentTarget.value }, true)}
        />
        {within ? (
          <button onClick={() => go({ within: "" })} aria-label="Remove the group">
            in {visible(within.slice(colon + 1))} ×
          </button>
        ) : null}
        {answer ? (
          <span class="dim" role="status">
            {grouped(all)} rows, self {grouped(answer.matched[eventName.value])} (
            {percentOf(answer.matched[eventName.value], total.value)})
          </span>
        ) : null}
        {answer ? (
          <Export
            name="functions"
            json={answer}
            rows={() => [
              ["self", "inclusive", "calls", "name", "file", "object"],
              ...answer.rows.map((row) => [
                row.self[eventName.value] ?? "",
                row.inclusive[eventName.value] ?? "",
                row.calls ?? "",
                row.name,
                row.file,
                row.object,
              ]),
            ]}
          />
        ) : null}
      </div>
      <Status answer={answer} error={error}>
        {all === 0 ? (
          <Empty title="Nothing matches">Remove the filter, or choose other rows.</Empty>
        ) : (
          <div
            class="scroll"
            ref={box}
            tabIndex={0}
            role="region"
            aria-label="Functions"
            onScroll={onScroll}
            onKeyDown={move}
          >
            <table aria-rowcount={all + 1}>
              <thead>
                <tr>
                  {head("Self", "self_cost", true)}
                  {head("Inclusive", "inclusive", true)}
                  {head("Calls", "calls", true)}
                  {head("Name", "name", false)}
                </tr>
              </thead>
              <tbody>
                <tr class="pad" ref={above} aria-hidden="true">
                  <td colSpan={4} />
                </tr>
                {answer?.rows.map((row, i) => (
                  <tr
                    key={`${row.id}${row.name}`}
                    id={`row-${row.id}`}
                    aria-rowindex={shown + i + 2}
                    aria-selected={row.id !== null && row.id === selected}
                  >
                    <td class="num">
                      <Cost costs={row.self} estimate={row.self_estimated === true} />
                    </td>
                    <td class="num">
                      <Cost
                        costs={row.inclusive}
                        estimate={row.inclusive_estimated === true}
                        bound={row.inclusive_is_upper_bound === true}
                      />
                    </td>
                    <td class="num">{callCount(row)}</td>
                    <td>
                      {row.id === null && group !== "function" ? (
                        <button
                          class="name fn"
                          onClick={() => go({ within: `${group}:${row.name}`, group: "function" })}
                        >
                          {visible(row.name)}
                        </button>
                      ) : (
                        <Name row={row} />
                      )}
                    </td>
                  </tr>
                ))}
                <tr class="pad" ref={below} aria-hidden="true">
                  <td colSpan={4} />
                </tr>
              </tbody>
            </table>
          </div>
        )}
      </Status>
    </>
  );
}
