// The sandwich of a comparison: callers above a function, callees below, with both sides.
import { useMemo, useState } from "preact/hooks";
import type { ChangedFlame } from "../answers";
import { grouped, visible } from "../format";
import { namedOrNone, place } from "../place";
import { eventName } from "../state";
import { NeedFunction, Status, useAnswer } from "../parts/answer";
import { changedBoxes, changedFrameRows, rowOf } from "../parts/changed-frames";
import { ChangeNumber, sidesOf } from "../parts/cost";
import { depthOf, ROW, searchPattern, type Window } from "../parts/frames";
import { ChangeLegend } from "../parts/legend";
import { drawingOf } from "../parts/picture";
import { Export } from "../parts/save";
import { SearchBox, TableSwitch } from "../parts/tools";
import { FrameItems } from "./changed-flame";
import {
  functionOfHalves,
  joinHalves,
  RESOLUTION,
  SandwichPicture,
  useWindow,
  WholePicture,
} from "./sandwich-picture";

/** Both halves as boxes of one picture. The function itself is drawn once, in the middle. */
function boxesOf(
  callers: ChangedFlame,
  callees: ChangedFlame,
  width: number,
  window: Window,
  pattern: RegExp | null,
) {
  const above = depthOf(callers);
  const below = depthOf(callees);
  const middle = above * ROW;
  const shared = { width, window, pattern, zoomDepth: 0 };
  const upper = changedBoxes(callers, { ...shared, top: (depth) => middle - depth * ROW });
  const lower = changedBoxes(callees, { ...shared, top: (depth) => middle + depth * ROW });
  const boxes = joinHalves(upper, lower, (group) => group + callers.functions.length);
  return { boxes, height: middle + (below + 1) * ROW };
}

export function ChangedSandwich() {
  const { order, filter, asTable, name, swapped } = place.value;
  const [width, setWidth] = useState(900);
  const sight = useWindow();
  const { window } = sight;
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
  const change = sidesOf(callees?.inclusive[0]?.[eventName.value]);
  return (
    <>
      <div class="tools">
        <SearchBox />
        <WholePicture of={sight} />
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
              <SandwichPicture
                of={callers}
                boxes={picture.boxes}
                height={picture.height}
                label="Sandwich of the changes"
                sight={sight}
                onWidth={setWidth}
                rowAt={(index) => rowOf(functionOfHalves(callers, callees, index))}
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
