import { Heads, Region } from "../parts/rows";
import { SearchBox, TableSwitch } from "../parts/tools";
import { useEffect, useMemo } from "preact/hooks";
import type { FlameFunction, Treemap } from "../answers";
import { grouped, percentOf, share, visible } from "../format";
import { go, place, type Colours } from "../place";
import {
  costliest,
  eventName,
  isComparing,
  list,
  root,
  selected,
  selection,
  startAt,
  startAtProgram,
  whole,
} from "../state";
import { Status, useAnswer } from "../parts/answer";
import { type Groups, heatToken } from "../parts/colours";
import { Cost, Name } from "../parts/cost";
import { colourMeaning, groupsOf, keyOf, searchPattern } from "../parts/frames";
import { GroupLegend, HeatLegend } from "../parts/legend";
import { Certainty, drawingOf, Picture, type Box, functionClicks } from "../parts/picture";
import { Matched } from "../parts/matched";
import { Export } from "../parts/save";
import { ChangedTreemap } from "./changed-treemap";
import { outerTiles, tileFunction, tileName, TreemapTools, usePictureSize } from "./treemap-tools";

/** The function whose colour a tile has: a self cost has that of its function. */
function ownerOf(answer: Treemap, index: number): FlameFunction | undefined {
  const tile = answer.tiles[index]!;
  return tile.kind === "self" && tile.parent !== null
    ? tileFunction(answer, tile.parent)
    : tileFunction(answer, index);
}

/** The sentence of a tile. */
function sentence(answer: Treemap, index: number): string {
  const tile = answer.tiles[index]!;
  const event = eventName.value;
  const cost = tile.inclusive[event];
  const what =
    tile.kind === "self"
      ? `self cost of ${visible(ownerOf(answer, index)?.name ?? "")}`
      : tileName(answer, index);
  const kind = tile.kind === "self" ? "" : " inclusive";
  return (
    `${what}: ${tile.is_guessed ? "~" : ""}${grouped(cost)} ${event}${kind}, ${percentOf(cost, whole.value)} of all` +
    (tile.is_guessed ? "; estimate" : "")
  );
}

function boxesOf(answer: Treemap, groups: Groups, colours: Colours, pattern: RegExp | null): Box[] {
  const event = eventName.value;
  const top = answer.tiles[0]?.inclusive[event];
  const isOuter = outerTiles(answer);
  return answer.tiles.map((tile, index) => {
    const at = tileFunction(answer, index);
    const owner = ownerOf(answer, index);
    const [x, y, width, height] = tile.bounds;
    // Only tiles with nothing inside have heat: the cost of the others is that of their tiles.
    const heat = isOuter[index] ? "--h0" : heatToken(share(tile.inclusive[event], top));
    return {
      x,
      y,
      width,
      height,
      name: tileName(answer, index),
      colour: !owner ? "--g7" : colours === "self" ? heat : groups.token(keyOf(owner, colours)),
      isEstimate: tile.is_guessed,
      isSelected: at !== undefined && at.id !== null && at.id === selected.value && tile.kind === "function",
      isMatch: pattern !== null && tile.kind === "function" && at !== undefined && pattern.test(at.name),
      isDim: false,
      missing: 0,
      parent: tile.parent ?? -1,
      group: tile.kind === "function" ? (tile.function ?? -1) : -1,
      say: sentence(answer, index),
    };
  });
}

export function TreemapView() {
  return isComparing.value ? <ChangedTreemap /> : <PlainTreemap />;
}

function PlainTreemap() {
  const { callers, filter, asTable, rootName } = place.value;
  const { width, height, onWidth } = usePictureSize();
  // Callers are those of one function: the root, else the selection.
  const from = rootName !== "" ? root.value : callers ? selected.value : null;
  const isReady = from !== undefined && (rootName === "" || from !== null);
  const { answer, error } = useAnswer(
    isReady
      ? { kind: "treemap", from: from ?? null, callers: callers && from !== null, width, height }
      : null,
  );
  const functions = answer?.functions ?? [];
  const chosen = place.value.colours === "ratio" ? "self" : place.value.colours;
  const colours = colourMeaning(functions, chosen);
  const groups = useMemo(() => groupsOf(functions, colours), [answer, colours, costliest.value]);
  const { pattern, problem } = searchPattern(filter);
  const boxes = useMemo(
    () => (answer ? boxesOf(answer, groups, colours, pattern) : []),
    [answer, groups, filter, selected.value, eventName.value, whole.value],
  );
  useEffect(() => {
    if (answer) list.value = answer.functions;
  }, [answer]);
  const enter = (index: number) => {
    const at = answer ? tileFunction(answer, index) : undefined;
    if (at && at.id !== null) startAt(at);
  };
  return (
    <>
      <div class="tools">
        <TreemapTools hasFunction={selection.value !== null} />
        <label>
          Colours{" "}
          <select value={chosen} onChange={(e) => go({ colours: e.currentTarget.value as Colours })}>
            <option value="auto">automatic</option>
            <option value="object">object</option>
            <option value="file">file</option>
            <option value="namespace">crate, namespace</option>
            <option value="self">cost</option>
          </select>
        </label>
        <SearchBox />
        {filter !== "" && answer ? (
          <span class="matched" role="status">
            {problem || <Matched from={from ?? null} inverted={callers && from !== null} />}
          </span>
        ) : null}
        <TableSwitch />
        {answer ? (
          <Export
            name="treemap"
            json={answer}
            rows={() => cells(answer)}
            draw={() => drawingOf(boxes, width, height)}
          />
        ) : null}
      </div>
      <Status answer={answer} error={error}>
        {answer ? (
          <>
            <Certainty basis={answer.basis} share={guessedShare(answer)} />
            {asTable ? (
              <TileTable answer={answer} />
            ) : (
              <Picture
                of={answer}
                boxes={boxes}
                height={height}
                label="Treemap"
                onWidth={onWidth}
                {...functionClicks((index) => tileFunction(answer, index))}
                onEnter={enter}
                onBack={() => (rootName !== "" ? history.back() : undefined)}
                onHome={startAtProgram}
              />
            )}
            {colours === "self" ? (
              <HeatLegend of="cost, in shares of the whole" />
            ) : (
              <GroupLegend groups={groups} by={colours === "namespace" ? "crate or namespace" : colours} />
            )}
            <p class="hint">
              An area is a cost: the tiles in a tile are its callees and its self cost. Enter or double click
              begins with a function.
            </p>
          </>
        ) : null}
      </Status>
    </>
  );
}

function guessedShare(answer: Treemap): string {
  const event = eventName.value;
  return answer.guessed ? percentOf(answer.guessed[event], answer.tiles[0]?.inclusive[event]) : "";
}

function cells(answer: Treemap) {
  const event = eventName.value;
  return [
    ["level", "function", `inclusive ${event}`],
    ...answer.tiles.map((tile, index) => [
      tile.depth,
      tile.kind === "function" ? tileFunction(answer, index)?.name : tileName(answer, index),
      tile.inclusive[event],
    ]),
  ];
}

function TileTable({ answer }: { answer: Treemap }) {
  return (
    <Region label="Tiles">
      <table>
        <Heads numbers={["Inclusive", "Level"]} texts={["Function"]} />
        <tbody>
          {answer.tiles.slice(0, 1000).map((tile, index) => {
            const at = tileFunction(answer, index);
            return (
              <tr key={index}>
                <td class="num">
                  <Cost costs={tile.inclusive} estimate={tile.is_guessed} />
                </td>
                <td class="num">{tile.depth}</td>
                <td>{at ? <Name row={at} /> : tileName(answer, index)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Region>
  );
}
