// The sandwich of a comparison: callers above a function, callees below, with both sides.
import { useMemo, useState } from "preact/hooks";
import type { ChangedFlame } from "../answers";
import { grouped, visible } from "../format";
import { place } from "../place";
import { eventName, select } from "../state";
import { NeedFunction, Status, useAnswer } from "../parts/answer";
import {
  changedBoxes,
  changedDepth,
  changedFrameRows,
  changedFunctionOf,
  namedOrNone,
  rowOf,
} from "../parts/changed-frames";
import { ChangeNumber, sidesOf } from "../parts/cost";
import { moved, ROW, searchPattern, WHOLE, zoomed, type Window } from "../parts/frames";
import { ChangeLegend } from "../parts/legend";
import { openMenu } from "../parts/menu";
import { drawingOf, Picture, type Box } from "../parts/picture";
import { Export } from "../parts/save";
import { SearchBox, TableSwitch } from "../parts/tools";
import { FrameItems } from "./changed-flame";

const RESOLUTION = 4096;

/** Both halves as boxes of one picture. The function itself is drawn once, in the middle. */
function boxesOf(
  callers: ChangedFlame,
  callees: ChangedFlame,
  width: number,
  window: Window,
  pattern: RegExp | null,
) {
  const above = changedDepth(callers);
  const below = changedDepth(callees);
  const middle = above * ROW;
  const shared = { width, window, pattern, zoomDepth: 0 };
  const upper = changedBoxes(callers, { ...shared, top: (depth) => middle - depth * ROW });
  const lower = changedBoxes(callees, { ...shared, top: (depth) => middle + depth * ROW });
  const tail: Box[] = lower.slice(1).map((box) => ({
    ...box,
    parent: box.parent === 0 ? 0 : box.parent + upper.length - 1,
    group: box.group < 0 ? -1 : box.group + callers.functions.length,
  }));
  if (upper[0] && lower[0]) upper[0].say = lower[0].say;
  return { boxes: [...upper, ...tail], height: middle + (below + 1) * ROW, upper: upper.length };
}

export function ChangedSandwich() {
  const { order, filter, asTable, name, swapped } = place.value;
  const [width, setWidth] = useState(900);
  const [window, setWindow] = useState<Window>(WHOLE);
  const from = namedOrNone(place.value);
  const ask = (inverted: boolean) =>
    from ? { kind: "changes_flame" as const, from, inverted, order, zoom: [], resolution: RESOLUTION } : null;
  const { answer: callers, error } = useAnswer(ask(true));
  const { answer: callees, error: otherError } = useAnswer(ask(false));
  const { pattern } = searchPattern(filter);
  const picture = useMemo(
    () => (callers && callees ? boxesOf(callers, callees, width, window, pattern) : null),
    [callers, callees, width, window, filter, swapped, eventName.value],
  );
  if (!from) return <NeedFunction what="both sides of all ways to it, and of everything it calls" />;
  const frameOf = (index: number) => {
    if (!picture || !callers || !callees) return undefined;
    return index < picture.upper
      ? changedFunctionOf(callers, index)
      : changedFunctionOf(callees, index - picture.upper + 1);
  };
  const change = sidesOf(callees?.inclusive[0]?.[eventName.value]);
  return (
    <>
      <div class="tools">
        <SearchBox />
        {window === WHOLE ? null : (
          <button data-action="fit" onClick={() => setWindow(WHOLE)}>
            Whole picture
          </button>
        )}
        <TableSwitch />
        {picture && callers && callees ? (
          <Export
            name="changed-sandwich"
            json={{ callers, callees }}
            rows={() => [...changedFrameRows(callers), ...changedFrameRows(callees).slice(1)]}
            draw={() => drawingOf(picture.boxes, width, picture.height)}
          />
        ) : null}
      </div>
      <Status answer={picture} error={error || otherError}>
        {picture && callers && callees ? (
          <>
            <h1>{visible(name)}</h1>
            <p class="dim">
              {grouped(change?.base)} → {grouped(change?.new)} {eventName.value}{" "}
              <ChangeNumber change={change} /> pass through it: its callers are above, its callees below.
              {callees.basis === "exact" ? "" : " Frames with a dotted edge are estimates of a side."}
            </p>
            {asTable ? (
              <div class="cards">
                <section>
                  <h3>Callers</h3>
                  <FrameItems answer={callers} label="Callers" />
                </section>
                <section>
                  <h3>Callees</h3>
                  <FrameItems answer={callees} label="Callees" />
                </section>
              </div>
            ) : (
              <Picture
                of={callers}
                boxes={picture.boxes}
                height={picture.height}
                label="Sandwich of the changes"
                onWidth={setWidth}
                onSelect={() => undefined}
                onEnter={(index) => {
                  const at = rowOf(frameOf(index));
                  if (at) select(at);
                }}
                onBack={() => (window === WHOLE ? history.back() : setWindow(WHOLE))}
                onHome={() => setWindow(WHOLE)}
                onMenu={(e, index) => {
                  const at = rowOf(frameOf(index));
                  if (at) openMenu(e, at);
                }}
                onZoom={(factor, at) => setWindow(zoomed(window, factor, at))}
                onPan={(by) => setWindow(moved(window, by))}
              />
            )}
            <ChangeLegend />
            <p class="hint">
              Enter or double click puts a function in the middle; the browser's Back undoes it.
            </p>
          </>
        ) : null}
      </Status>
    </>
  );
}
