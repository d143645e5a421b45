import { useMemo, useState } from "preact/hooks";
import { grouped, percentOf, visible } from "../format";
import { eventName, go, place, select, total } from "../state";
import { Status, useAnswer } from "../parts/common";
import { Certainty, colourOf, Picture, type Box } from "../parts/picture";

export function TreemapView() {
  const { from, inverted, function: selected } = place.value;
  const [width, setWidth] = useState(900);
  const height = 560;
  const { answer, error } = useAnswer({
    kind: "treemap",
    from,
    callers: inverted && from !== null,
    width,
    height,
  });
  const name = eventName.value;
  const boxes = useMemo<Box[]>(() => {
    const ranks = new Map(
      [...new Set((answer?.functions ?? []).map((f) => f.file))].slice(0, 7).map((file, i) => [file, i]),
    );
    return (answer?.tiles ?? []).map((tile) => {
      const at = tile.function === null ? undefined : answer!.functions[tile.function];
      const label = at ? visible(at.name) : `${grouped(tile.merged)} small ones`;
      return {
        x: tile.bounds[0],
        y: tile.bounds[1],
        width: tile.bounds[2],
        height: tile.bounds[3],
        name: label,
        colour: at ? colourOf(ranks, at.file) : "--g7",
        hatched: tile.is_guessed,
        isSelected: at?.id != null && at.id === selected,
        isDim: false,
        parent: tile.parent ?? -1,
        header: true,
        say: `${label}: ${tile.is_guessed ? "~" : ""}${grouped(tile.inclusive[name])} ${name} inclusive, ${percentOf(tile.inclusive[name], total.value)} of all${tile.is_guessed ? "; estimate" : ""}`,
      };
    });
  }, [answer, selected, name]);
  const at = (i: number) => {
    const f = answer?.tiles[i]?.function;
    return f == null ? undefined : answer!.functions[f];
  };
  return (
    <>
      <div class="tools">
        {from !== null ? (
          <>
            <button onClick={() => go({ from: null })}>Whole program</button>
            <label>
              <input type="checkbox" checked={inverted} onChange={() => go({ inverted: !inverted })} />{" "}
              callers
            </label>
          </>
        ) : null}
      </div>
      <Status answer={answer} error={error}>
        {answer ? (
          <>
            <Certainty basis={answer.basis} />
            <Picture
              boxes={boxes}
              height={height}
              label="Treemap"
              onWidth={(w) => setWidth(Math.floor(w / 20) * 20)}
              onSelect={(i) => {
                const f = at(i);
                if (f) select(f);
              }}
              onEnter={(i) => {
                const id = at(i)?.id;
                if (id != null) go({ from: id });
              }}
              onBack={() => go({ from: null })}
              onHome={() => go({ from: null })}
            />
            <p class="hint">Colours are files. The call tree has the same numbers as a table.</p>
          </>
        ) : null}
      </Status>
    </>
  );
}
