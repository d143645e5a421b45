// The flame graph of a comparison: both call trees as one.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ChangedFlame as Answer } from "../answers";
import { grouped } from "../format";
import { place } from "../place";
import { announce, eventName, list } from "../state";
import { Empty, Status, useAnswer } from "../parts/answer";
import { ChangeItems } from "../parts/change-table";
import { changedBoxes, changedFrameRows, changedRoot, rowOf } from "../parts/changed-frames";
import { sidesOf } from "../parts/cost";
import { depthOf, functionOf, pathTo, resolutionOf, ROW, searchPattern } from "../parts/frames";
import { ChangeLegend } from "../parts/legend";
import { Certainty, drawingOf, functionClicks, Picture } from "../parts/picture";
import { Export } from "../parts/save";
import { SearchBox, TableSwitch } from "../parts/tools";
import { Directions, useFlameZoom, WayBack } from "./flame-tools";

export function ChangedFlame() {
  const { filter, asTable, swapped, inverted, order, upward } = place.value;
  const [width, setWidth] = useState(900);
  const flameZoom = useFlameZoom();
  const { window, zoom, setZoom, back, home, onZoom, onPan } = flameZoom;
  const { answer, error } = useAnswer({
    kind: "changes_flame",
    from: changedRoot(),
    inverted,
    order,
    zoom,
    resolution: resolutionOf(width, window),
  });
  const { pattern, problem } = searchPattern(filter);
  const height = ((answer ? depthOf(answer) : 0) + 1) * ROW;
  const top = (depth: number) => (upward ? height - (depth + 1) * ROW : depth * ROW);
  const boxes = useMemo(
    () => (answer ? changedBoxes(answer, { width, window, pattern, zoomDepth: zoom.length, top }) : []),
    [answer, width, window, filter, swapped, upward, eventName.value, place.value.name, place.value.file],
  );
  const matches = answer && pattern ? boxes.filter((box) => box.isMatch).length : 0;
  useEffect(() => {
    if (answer) list.value = answer.functions.map((at) => rowOf(at)!);
  }, [answer]);
  const enter = (index: number) => {
    if (!answer || !functionOf(answer, index)) return;
    setZoom(pathTo(answer, index));
    announce.value = `zoomed into ${boxes[index]!.name}`;
  };
  return (
    <>
      <div class="tools">
        <Directions />
        <SearchBox />
        {filter !== "" && answer ? (
          <span class="matched" role="status">
            {problem || `${grouped(matches)} ${matches === 1 ? "frame matches" : "frames match"}`}
          </span>
        ) : null}
        <WayBack of={flameZoom} />
        <TableSwitch />
        {answer ? (
          <Export
            name="changes"
            json={answer}
            rows={() => changedFrameRows(answer)}
            draw={() => drawingOf(boxes, width, height)}
          />
        ) : null}
      </div>
      <Status answer={answer} error={error}>
        {answer && answer.function.length === 0 ? (
          <Empty title="No cost to compare">Neither side has any cost here.</Empty>
        ) : null}
        {answer && answer.function.length > 0 ? (
          <>
            <Certainty basis={answer.basis} />
            {asTable ? (
              <FrameItems answer={answer} />
            ) : (
              <Picture
                of={answer}
                boxes={boxes}
                height={height}
                label="Flame graph of the changes"
                onWidth={setWidth}
                onEnter={enter}
                onBack={back}
                onHome={home}
                {...functionClicks((index) => rowOf(functionOf(answer, index)))}
                onZoom={onZoom}
                onPan={onPan}
              />
            )}
            <ChangeLegend />
            <p class="hint">
              A frame is as wide as the larger of its two sides, and at least as the frames on it. Click
              selects, Enter or double click zooms, Esc goes one level up, Home to the whole graph.
            </p>
          </>
        ) : null}
      </Status>
    </>
  );
}

/** The frames of an answer as a table. */
export function FrameItems({ answer, label = "Frames" }: { answer: Answer; label?: string }) {
  const event = eventName.value;
  const items = answer.function.map((_, index) => ({
    row: rowOf(functionOf(answer, index)),
    name: `${grouped(answer.merged[index])} narrow frames`,
    change: sidesOf(answer.inclusive[index]![event]),
    isEstimate: answer.is_guessed[index]!,
    level: answer.depth[index]!,
  }));
  return <ChangeItems label={label} items={items} />;
}
