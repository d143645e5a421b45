import { useEffect, useMemo, useState } from "preact/hooks";
import { base, callCount, grouped, percent, percentOf, visible } from "../format";
import { announce, eventName, go, place, select, total } from "../state";
import { Cost, Name, Status, useAnswer } from "../parts/common";
import { Certainty, colourOf, Picture, type Box } from "../parts/picture";

const ROW = 20;
export function FlameView() {
  const { from, inverted, order, filter, function: selected } = place.value;
  const [width, setWidth] = useState(900);
  const [zoom, setZoom] = useState<number[]>([]);
  const [asTable, setTable] = useState(false);
  useEffect(() => setZoom([]), [from, inverted, order]);
  const { answer, error } = useAnswer({
    kind: "flame",
    from,
    inverted,
    order,
    zoom,
    resolution: Math.max(200, Math.ceil(width / 200) * 400),
  });
  const name = eventName.value;
  const objects = new Set(
    (answer?.functions ?? []).map((f) => f.object).filter((object) => object !== "" && object !== "???"),
  );
  const by = objects.size > 1 ? "object" : "file";
  const ranks = useMemo(
    () =>
      new Map(
        [...new Set((answer?.functions ?? []).map((f) => f[by]).filter((key) => key !== "" && key !== "???"))]
          .slice(0, 7)
          .map((key, i) => [key, i]),
      ),
    [answer],
  );
  const boxes = useMemo<Box[]>(() => {
    if (!answer) return [];
    const wanted = filter.toLowerCase();
    return answer.function.map((f, i) => {
      const at = f < 0 ? undefined : answer.functions[f]!;
      const label = at ? visible(at.name) : `${grouped(answer.merged[i])} narrow frames`;
      const cost = answer.inclusive[i]![name];
      return {
        x: answer.x[i]! * width,
        y: answer.depth[i]! * ROW,
        width: answer.width[i]! * width,
        height: ROW,
        name: label,
        colour: at ? colourOf(ranks, at[by]) : "--g7",
        hatched: answer.is_guessed[i]!,
        parent: answer.parent[i]!,
        header: true,
        isSelected: at !== undefined && at.id !== null && at.id === selected,
        isDim: wanted !== "" && !label.toLowerCase().includes(wanted),
        say: `${label}: ${answer.is_guessed[i] ? "~" : ""}${grouped(cost)} ${name} inclusive, ${percentOf(cost, total.value)} of all, ${percent(answer.width[i]!)} of this picture; self ${grouped(answer.self[i]![name])}; ${callCount(answer.calls[i]!)} calls${at ? `; all frames of it ${grouped(at.all[name])}` : ""}${answer.is_guessed[i] ? "; estimate" : ""}`,
      };
    });
  }, [answer, width, filter, selected, name]);
  const enter = (i: number) => {
    if (!answer || (answer.function[i] ?? -1) < 0) return;
    const path: number[] = [];
    for (let j = i; j >= 0; j = answer.parent[j]!) {
      const id = answer.functions[answer.function[j]!]?.id;
      if (id !== null && id !== undefined) path.unshift(id);
    }
    // An answer that begins at the zoomed frame has no ancestors: they are those of the last zoom.
    const root = answer.functions[answer.function[0] ?? -1]?.id ?? null;
    setZoom(zoom.length > 0 && root === zoom.at(-1) ? [...zoom.slice(0, -1), ...path] : path);
    announce.value = `zoomed into ${boxes[i]!.name}`;
  };
  const back = () => {
    if (zoom.length > 0) setZoom(zoom.slice(0, -1));
    else if (from !== null) go({ from: null });
  };
  const height = (answer?.depth.reduce((a, b) => Math.max(a, b), 0) ?? 0) * ROW + ROW;
  return (
    <>
      <div class="tools">
        <label>
          <input type="checkbox" checked={inverted} onChange={() => go({ inverted: !inverted })} /> callers
          below
        </label>
        <label>
          Order{" "}
          <select value={order} onChange={(e) => go({ order: e.currentTarget.value as "cost" })}>
            <option value="cost">cost</option>
            <option value="name">name</option>
          </select>
        </label>
        <input
          class="filter"
          type="search"
          placeholder="Mark names ( / )"
          aria-label="Mark names"
          value={filter}
          onInput={(e) => go({ filter: e.currentTarget.value }, true)}
        />
        {zoom.length > 0 ? (
          <>
            <button onClick={back}>Back</button>
            <button onClick={() => setZoom([])}>Whole graph</button>
          </>
        ) : null}
        {from !== null ? <button onClick={() => go({ from: null })}>From one function ×</button> : null}
        <button data-key="t" aria-pressed={asTable} onClick={() => setTable(!asTable)}>
          As table
        </button>
      </div>
      <Status answer={answer} error={error}>
        {answer ? (
          <>
            <Certainty basis={answer.basis} />
            {asTable ? (
              <table>
                <thead>
                  <tr>
                    <th scope="col" class="num">
                      Inclusive
                    </th>
                    <th scope="col" class="num">
                      Self
                    </th>
                    <th scope="col" class="num">
                      Level
                    </th>
                    <th scope="col">Function</th>
                  </tr>
                </thead>
                <tbody>
                  {answer.function.slice(0, 500).map((f, i) => (
                    <tr key={i}>
                      <td class="num">
                        <Cost costs={answer.inclusive[i]} estimate={answer.is_guessed[i] === true} />
                      </td>
                      <td class="num">
                        <Cost costs={answer.self[i]} />
                      </td>
                      <td class="num">{answer.depth[i]}</td>
                      <td>{f < 0 ? boxes[i]?.name : <Name row={answer.functions[f]!} />}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            ) : (
              <Picture
                boxes={boxes}
                height={height}
                label="Flame graph"
                onWidth={setWidth}
                onEnter={enter}
                onBack={back}
                onHome={() => setZoom([])}
                onSelect={(i) => {
                  const f = answer.functions[answer.function[i]!];
                  if (f) select(f);
                }}
              />
            )}
            <p class="hint">
              Colours by {by}:
              {[...ranks.keys()].map((key, i) => (
                <span key={key} title={visible(key)}>
                  <span class={`swatch s${i}`} />
                  {base(key)}
                </span>
              ))}
              <span class="swatch s7" />
              others. Click selects, Enter or double click zooms, Esc goes back.
            </p>
          </>
        ) : null}
      </Status>
    </>
  );
}
