// The treemap of a comparison: an area is the larger of its two sides.
import { useEffect, useMemo } from "preact/hooks";
import type { ChangedTreemap as Answer } from "../answers";
import { share, visible } from "../format";
import { namedOrNone, place } from "../place";
import { eventName, isSelectedRow, joined, list, startAt, startAtProgram } from "../state";
import { Status, useAnswer } from "../parts/answer";
import { ChangeItems } from "../parts/change-table";
import { changedRoot, missingOf, NO_CHANGE, rowOf, sayChange, totalBefore } from "../parts/changed-frames";
import { changeToken } from "../parts/colours";
import { sidesOf } from "../parts/cost";
import { searchPattern } from "../parts/frames";
import { ChangeLegend } from "../parts/legend";
import { Certainty, drawingOf, functionClicks, Picture, type Box } from "../parts/picture";
import { Export } from "../parts/save";
import { SearchBox, TableSwitch } from "../parts/tools";
import { outerTiles, tileFunction, tileName, TreemapTools, usePictureSize } from "./treemap-tools";

/** The sentence of a tile. */
function say(answer: Answer, index: number): string {
  const tile = answer.tiles[index]!;
  const change = sidesOf(tile.inclusive[eventName.value]) ?? NO_CHANGE;
  const owner = tile.parent === null ? undefined : tileFunction(answer, tile.parent);
  const isSelf = tile.kind === "self";
  const what = isSelf ? `self cost of ${visible(owner?.name ?? "")}` : tileName(answer, index);
  const text = sayChange(what, change, totalBefore(answer), isSelf ? "by itself" : "inclusive");
  return text + (tile.is_guessed ? "; estimate" : "");
}

function boxesOf(answer: Answer, pattern: RegExp | null): Box[] {
  const total = totalBefore(answer);
  const isOuter = outerTiles(answer);
  return answer.tiles.map((tile, index) => {
    const at = tileFunction(answer, index);
    const [x, y, width, height] = tile.bounds;
    const change = sidesOf(tile.inclusive[eventName.value]) ?? NO_CHANGE;
    return {
      x,
      y,
      width,
      height,
      name: tileName(answer, index),
      // Tiles within others have the colours: that of an outer one would be the sum of theirs.
      colour: isOuter[index] ? "--d3" : changeToken(share(change.change, total)),
      isEstimate: tile.is_guessed,
      isSelected: at !== undefined && tile.kind === "function" && isSelectedRow(joined(at)),
      isMatch: pattern !== null && tile.kind === "function" && at !== undefined && pattern.test(at.name),
      isDim: false,
      missing: isOuter[index] ? 0 : missingOf(change),
      parent: tile.parent ?? -1,
      group: tile.kind === "function" ? (tile.function ?? -1) : -1,
      say: say(answer, index),
    };
  });
}

export function ChangedTreemap() {
  const { callers, filter, asTable, rootName, swapped } = place.value;
  const { width, height, onWidth } = usePictureSize();
  const from = changedRoot() ?? (callers ? namedOrNone(place.value) : null);
  const { answer, error } = useAnswer({
    kind: "changes_treemap",
    from,
    callers: callers && from !== null,
    width,
    height,
  });
  const { pattern } = searchPattern(filter);
  const boxes = useMemo(
    () => (answer ? boxesOf(answer, pattern) : []),
    [answer, filter, swapped, eventName.value, place.value.name, place.value.file],
  );
  useEffect(() => {
    if (answer) list.value = answer.functions.map((at) => rowOf(at)!);
  }, [answer]);
  const enter = (index: number) => {
    const at = answer ? tileFunction(answer, index) : undefined;
    if (at && at.id !== null) startAt(joined(at));
  };
  const cells = (map: Answer) => [
    ["level", "function", "before", "after", "change"],
    ...map.tiles.map((tile, index) => {
      const change = sidesOf(tile.inclusive[eventName.value]);
      return [tile.depth, tileName(map, index), change?.base, change?.new, change?.change];
    }),
  ];
  return (
    <>
      <div class="tools">
        <TreemapTools hasFunction={place.value.name !== ""} />
        <SearchBox />
        <TableSwitch />
        {answer ? (
          <Export
            name="changed-treemap"
            json={answer}
            rows={() => cells(answer)}
            draw={() => drawingOf(boxes, width, height)}
          />
        ) : null}
      </div>
      <Status answer={answer} error={error}>
        {answer ? (
          <>
            <Certainty basis={answer.basis} />
            {asTable ? (
              <ChangeItems
                label="Tiles"
                items={answer.tiles.map((tile, index) => ({
                  row: rowOf(tileFunction(answer, index)),
                  name: tileName(answer, index),
                  change: sidesOf(tile.inclusive[eventName.value]),
                  isEstimate: tile.is_guessed,
                  level: tile.depth,
                }))}
              />
            ) : (
              <Picture
                of={answer}
                boxes={boxes}
                height={height}
                label="Treemap of the changes"
                onWidth={onWidth}
                {...functionClicks((index) => rowOf(tileFunction(answer, index)))}
                onEnter={enter}
                onBack={() => (rootName !== "" ? history.back() : undefined)}
                onHome={startAtProgram}
              />
            )}
            <ChangeLegend />
            <p class="hint">
              An area is the larger of the two sides; tiles with nothing inside have the colour of their
              change. Enter or double click begins with a function.
            </p>
          </>
        ) : null}
      </Status>
    </>
  );
}
