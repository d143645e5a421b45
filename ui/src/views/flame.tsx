import { Heads, Region } from "../parts/rows";
import { SearchBox, TableSwitch } from "../parts/tools";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Flame } from "../answers";
import { estimatedColumns, grouped, percentOf } from "../format";
import { go, place, type Colours } from "../place";
import {
  announce,
  costliest,
  eventName,
  isComparing,
  list,
  root,
  selected,
  shownEvents,
  whole,
} from "../state";
import { Status, useAnswer } from "../parts/answer";
import type { Groups } from "../parts/colours";
import { Cost, Name } from "../parts/cost";
import {
  boxesOf,
  colourMeaning,
  depthOf,
  frameAt,
  functionOf,
  groupsOf,
  moved,
  outermostMatches,
  pathTo,
  resolutionOf,
  ROW,
  searchPattern,
  WHOLE,
  type Window,
} from "../parts/frames";
import { GroupLegend, HeatLegend, RatioLegend } from "../parts/legend";
import { Certainty, drawingOf, Picture, type Box, functionClicks } from "../parts/picture";
import { Matched } from "../parts/matched";
import { Export } from "../parts/save";
import { ChangedFlame } from "./changed-flame";
import { Directions, useFlameZoom, WayBack } from "./flame-tools";
import { Minimap } from "./minimap";

const MAX_TABLE_ROWS = 500;
/** A frame narrower than this is zoomed into when a search steps to it. */
const MIN_STEP_PIXELS = 24;

export function FlameView() {
  return isComparing.value ? <ChangedFlame /> : <PlainFlame />;
}

function PlainFlame() {
  const { inverted, order, filter, upward, asTable, rootName } = place.value;
  const [width, setWidth] = useState(900);
  const flameZoom = useFlameZoom();
  const { window, setWindow, zoom, setZoom, back, home, onZoom, onPan } = flameZoom;
  const [cursor, setCursor] = useState(-1);
  useEffect(() => setCursor(-1), [place.value.zoom, rootName, inverted, order]);

  const from = root.value;
  const question = { kind: "flame" as const, from: from ?? null, inverted, order };
  const isReady = from !== undefined && (rootName === "" || from !== null);
  const { answer, error } = useAnswer(
    isReady ? { ...question, zoom, resolution: resolutionOf(width, window) } : null,
  );
  const overall = useAnswer(
    isReady && (zoom.length > 0 || window !== WHOLE)
      ? { ...question, zoom: [], resolution: resolutionOf(width, WHOLE) }
      : null,
  ).answer;
  const { pattern, problem } = searchPattern(filter);
  const colours = colourMeaning(answer?.functions ?? [], place.value.colours);
  const groups = useMemo(
    () => groupsOf(answer?.functions ?? [], colours),
    [answer, colours, costliest.value],
  );
  const height = ((answer ? depthOf(answer) : 0) + 1) * ROW;
  const top = (depth: number) => (upward ? height - (depth + 1) * ROW : depth * ROW);
  const boxes = useMemo<Box[]>(() => {
    if (!answer) return [];
    return boxesOf(answer, {
      event: eventName.value,
      second: shownEvents.value[1] ?? null,
      whole: whole.value,
      width,
      window,
      groups,
      colours,
      selected: selected.value ?? null,
      pattern,
      isInverted: inverted,
      zoomDepth: zoom.length,
      top,
    });
  }, [answer, width, window, filter, selected.value, eventName.value, whole.value, colours, upward, groups]);

  const enter = (index: number) => {
    if (!answer) return;
    if (!functionOf(answer, index)) return;
    setZoom(pathTo(answer, index));
    announce.value = `zoomed into ${boxes[index]!.name}`;
  };
  const matches = answer && pattern ? outermostMatches(answer, pattern) : [];
  const step = (by: 1 | -1) => {
    if (!answer || matches.length === 0) return;
    const at = matches.indexOf(cursor);
    const next = matches[(at + by + matches.length) % matches.length]!;
    const box = boxes[next]!;
    if (box.width < MIN_STEP_PIXELS || box.x < 0 || box.x > width) {
      setWindow(around(answer.x[next]!, answer.width[next]!));
    }
    setCursor(next);
    announce.value = box.say;
  };
  useEffect(() => {
    if (answer) list.value = matches.map((index) => functionOf(answer, index)!);
  }, [answer, filter]);

  return (
    <>
      <div class="tools">
        <Directions />
        <ColourChoice />
        <Search
          answer={answer}
          from={from ?? null}
          inverted={inverted}
          matches={matches}
          problem={problem}
          onStep={step}
        />
        <WayBack of={flameZoom} />
        <TableSwitch />
        {answer ? <FlameExport answer={answer} boxes={boxes} width={width} height={height} /> : null}
      </div>
      <Status answer={answer} error={error}>
        {answer ? (
          <>
            <Certainty basis={answer.basis} share={guessedShare(answer)} />
            {asTable ? (
              <FrameTable answer={answer} />
            ) : (
              <>
                {overall && (zoom.length > 0 || window !== WHOLE) ? (
                  <Minimap
                    answer={overall}
                    window={windowOf(overall, zoom, window)}
                    groups={groups}
                    colours={colours}
                    onWindow={(next) => {
                      if (zoom.length > 0) setZoom([]);
                      setWindow(next);
                    }}
                  />
                ) : null}
                <Picture
                  of={answer}
                  boxes={boxes}
                  height={height}
                  label="Flame graph"
                  cursor={cursor}
                  onWidth={setWidth}
                  onEnter={enter}
                  onBack={back}
                  onHome={home}
                  {...functionClicks((index) => functionOf(answer, index))}
                  onZoom={onZoom}
                  onPan={onPan}
                />
              </>
            )}
            <FlameLegend groups={groups} colours={colours} />
            <p class="hint">
              Click selects, Enter or double click zooms, Esc goes one level up, Home to the whole graph; Ctrl
              and wheel zoom at the pointer.
            </p>
          </>
        ) : null}
      </Status>
    </>
  );
}

/** A window in which a frame fills a third of the width. */
function around(x: number, width: number): Window {
  const size = Math.min(1, width * 3);
  return moved({ from: x + width / 2 - size / 2, to: x + width / 2 + size / 2 }, 0);
}

/** The place of the shown window in the whole graph. */
function windowOf(overall: Flame, zoom: string[], window: Window): Window {
  const frame = zoom.length > 0 ? frameAt(overall, zoom) : 0;
  const x = overall.x[frame] ?? 0;
  const width = overall.width[frame] ?? 1;
  return { from: x + window.from * width, to: x + window.to * width };
}

function guessedShare(answer: Flame): string {
  const name = eventName.value;
  return answer.guessed ? percentOf(answer.guessed[name], answer.inclusive[0]?.[name]) : "";
}

function ColourChoice() {
  return (
    <label>
      Colours{" "}
      <select value={place.value.colours} onChange={(e) => go({ colours: e.currentTarget.value as Colours })}>
        <option value="auto">automatic</option>
        <option value="object">object</option>
        <option value="file">file</option>
        <option value="namespace">crate, namespace</option>
        <option value="self">self cost</option>
        {shownEvents.value.length > 1 ? (
          <option value="ratio">
            {shownEvents.value[1]} per {shownEvents.value[0]}
          </option>
        ) : null}
      </select>
    </label>
  );
}

function FlameLegend({ groups, colours }: { groups: Groups; colours: Colours }) {
  const [event, second] = shownEvents.value;
  if (colours === "self") return <HeatLegend of="self cost, in shares of the picture" />;
  if (colours === "ratio" && second) return <RatioLegend event={event!} second={second} />;
  return <GroupLegend groups={groups} by={colours === "namespace" ? "crate or namespace" : colours} />;
}

function Search({
  answer,
  from,
  inverted,
  matches,
  problem,
  onStep,
}: {
  answer: Flame | null;
  from: number | null;
  inverted: boolean;
  matches: number[];
  problem: string;
  onStep: (by: 1 | -1) => void;
}) {
  const { filter } = place.value;
  return (
    <>
      <SearchBox onStep={onStep} />
      {filter === "" || !answer ? null : (
        <span class="matched" role="status">
          {problem || <Matched from={from} inverted={inverted} />}
          {matches.length > 0 ? (
            <>
              <button
                data-action="previous-match"
                aria-label="Previous match"
                title="Previous match (p)"
                onClick={() => onStep(-1)}
              >
                ‹
              </button>
              <button
                data-action="next-match"
                aria-label="Next match"
                title="Next match (n)"
                onClick={() => onStep(1)}
              >
                ›
              </button>
            </>
          ) : null}
        </span>
      )}
    </>
  );
}

function FlameExport({
  answer,
  boxes,
  width,
  height,
}: {
  answer: Flame;
  boxes: Box[];
  width: number;
  height: number;
}) {
  const rows = () => [
    [
      "level",
      "function",
      ...shownEvents.value.flatMap((name) => [`inclusive ${name}`, `self ${name}`]),
      "calls",
      "estimated",
    ],
    ...answer.function.map((_, index) => [
      answer.depth[index]!,
      functionOf(answer, index)?.name ?? `${answer.merged[index]} narrow frames`,
      ...shownEvents.value.flatMap((name) => [answer.inclusive[index]![name], answer.self[index]![name]]),
      answer.calls[index]!.calls,
      estimatedColumns({
        inclusive: answer.is_guessed[index],
        self: answer.is_self_guessed[index],
        calls: answer.calls[index]!.calls_guessed,
      }),
    ]),
  ];
  return <Export name="flame-graph" json={answer} rows={rows} draw={() => drawingOf(boxes, width, height)} />;
}

function FrameTable({ answer }: { answer: Flame }) {
  const count = answer.function.length;
  return (
    <Region label="Frames">
      <table>
        <Heads numbers={["Inclusive", "Self", "Level"]} texts={["Function"]} />
        <tbody>
          {answer.function.slice(0, MAX_TABLE_ROWS).map((_, index) => {
            const at = functionOf(answer, index);
            return (
              <tr key={index}>
                <td class="num">
                  <Cost costs={answer.inclusive[index]} estimate={answer.is_guessed[index]} />
                </td>
                <td class="num">
                  <Cost costs={answer.self[index]} estimate={answer.is_self_guessed[index]} />
                </td>
                <td class="num">{answer.depth[index]}</td>
                <td>{at ? <Name row={at} /> : `${grouped(answer.merged[index])} narrow frames`}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {count > MAX_TABLE_ROWS ? (
        <p class="hidden">
          {grouped(count - MAX_TABLE_ROWS)} more frames are in the picture and in the saved table.
        </p>
      ) : null}
    </Region>
  );
}
