// All ways to a function above it, everything it calls below.
import { SearchBox, TableSwitch } from "../parts/tools";
import { useMemo, useState } from "preact/hooks";
import type { Flame } from "../answers";
import { grouped, percentOf, sum, visible } from "../format";
import { place } from "../place";
import { costliest, eventName, isComparing, select, selected, selection, whole } from "../state";
import { NeedFunction, Status, useAnswer } from "../parts/answer";
import { Cost } from "../parts/cost";
import {
  boxesOf,
  colourMeaning,
  depthOf,
  functionOf,
  groupsOf,
  ROW,
  searchPattern,
  type Window,
} from "../parts/frames";
import { GroupLegend, HeatLegend } from "../parts/legend";
import { drawingOf } from "../parts/picture";
import { Export, type Cell } from "../parts/save";
import { ChangedSandwich } from "./changed-sandwich";
import {
  functionOfHalves,
  joinHalves,
  RESOLUTION,
  SandwichPicture,
  useWindow,
  WholePicture,
} from "./sandwich-picture";

/** Space for the line between direct calls and estimates. */
const GAP = 14;

/** Both halves as boxes of one picture. The function itself is drawn once, in the middle. */
function sandwich(callers: Flame, callees: Flame, width: number, window: Window, pattern: RegExp | null) {
  const above = depthOf(callers);
  const below = depthOf(callees);
  const functions = [...callers.functions, ...callees.functions];
  const colours = colourMeaning(functions, place.value.colours);
  const groups = groupsOf(functions, colours);
  const farAbove = above > 1 ? GAP : 0;
  const farBelow = below > 1 ? GAP : 0;
  const middle = above * ROW + farAbove;
  const shared = {
    event: eventName.value,
    second: null,
    whole: whole.value,
    width,
    window,
    groups,
    colours,
    zoomDepth: 0,
    selected: selected.value ?? null,
    pattern,
  };
  const upper = boxesOf(callers, {
    ...shared,
    isInverted: true,
    top: (depth) => middle - depth * ROW - (depth > 1 ? farAbove : 0),
  });
  const lower = boxesOf(callees, {
    ...shared,
    isInverted: false,
    top: (depth) => middle + depth * ROW + (depth > 1 ? farBelow : 0),
  });
  // Groups are indexes of two lists of functions: the names are the same for both.
  const boxes = joinHalves(upper, lower, (group) => groupInUpper(callers, callees, group));
  const inclusive = callees.inclusive[0]?.[eventName.value];
  if (upper[0] && lower[0]) {
    upper[0].name = `${upper[0].name} – ${grouped(inclusive)} ${eventName.value}, ${percentOf(inclusive, whole.value)}`;
  }
  return {
    boxes,
    groups,
    colours,
    height: middle + ROW + below * ROW + farBelow,
  };
}

function groupInUpper(callers: Flame, callees: Flame, group: number): number {
  const { id } = callees.functions[group]!;
  const at = callers.functions.findIndex((one) => one.id === id && id !== null);
  return at >= 0 ? at : group + callers.functions.length;
}

export function SandwichView() {
  return isComparing.value ? <ChangedSandwich /> : <PlainSandwich />;
}

function PlainSandwich() {
  const id = selected.value;
  const hasFunction = id !== null && id !== undefined;
  const { order, filter, asTable } = place.value;
  const [width, setWidth] = useState(900);
  const sight = useWindow();
  const { window } = sight;
  const ask = (inverted: boolean) =>
    hasFunction
      ? { kind: "flame" as const, from: id, inverted, order, zoom: [], resolution: RESOLUTION }
      : null;
  const callers = useAnswer(ask(true));
  const callees = useAnswer(ask(false));
  const { pattern } = searchPattern(filter);
  const picture = useMemo(
    () =>
      callers.answer && callees.answer
        ? sandwich(callers.answer, callees.answer, width, window, pattern)
        : null,
    [
      callers.answer,
      callees.answer,
      width,
      window,
      filter,
      eventName.value,
      whole.value,
      place.value.colours,
      costliest.value,
      id,
    ],
  );
  if (!hasFunction) return <NeedFunction what="all ways to it above, and everything it calls below" />;
  const rootCosts = callees.answer?.inclusive[0];
  return (
    <>
      <div class="tools">
        <SearchBox />
        <WholePicture of={sight} />
        <TableSwitch />
        {picture && callers.answer && callees.answer ? (
          <Export
            name="sandwich"
            json={{ callers: callers.answer, callees: callees.answer }}
            rows={() => rowsOf(callers.answer!, callees.answer!)}
            draw={() => drawingOf(picture.boxes, width, picture.height)}
          />
        ) : null}
      </div>
      <Status answer={picture} error={callers.error || callees.error}>
        {picture && callers.answer && callees.answer ? (
          <>
            <h1>{visible(place.value.name)}</h1>
            <p class="dim">
              {selection.value?.inclusive_estimated ? "~" : ""}
              {grouped(rootCosts?.[eventName.value])} {eventName.value} (
              {percentOf(rootCosts?.[eventName.value], whole.value)}) pass through it: its callers are above,
              its callees below.
              {callers.answer.basis === "exact"
                ? ""
                : " Costs of direct callers and callees are recorded; beyond the gap, those with a dotted edge are estimates."}
            </p>
            {asTable ? (
              <SandwichTable callers={callers.answer} callees={callees.answer} />
            ) : (
              <SandwichPicture
                of={callers.answer}
                boxes={picture.boxes}
                height={picture.height}
                label="Sandwich"
                sight={sight}
                onWidth={setWidth}
                rowAt={(index) => functionOfHalves(callers.answer!, callees.answer!, index)}
              />
            )}
            {picture.colours === "self" ? (
              <HeatLegend of="self cost, in shares of the function" />
            ) : (
              <GroupLegend
                groups={picture.groups}
                by={picture.colours === "namespace" ? "crate or namespace" : picture.colours}
              />
            )}
            <p class="hint">
              Enter or double click puts a function in the middle; the browser's Back undoes it.
            </p>
          </>
        ) : null}
      </Status>
    </>
  );
}

/** Direct callers and callees of the pictures, merged by function. */
function direct(answer: Flame) {
  const byFunction = new Map<number, number[]>();
  answer.depth.forEach((depth, index) => {
    if (depth !== 1) return;
    const group = answer.function[index]!;
    byFunction.set(group, [...(byFunction.get(group) ?? []), index]);
  });
  return [...byFunction.values()];
}

function rowsOf(callers: Flame, callees: Flame): Cell[][] {
  const half = (side: string, answer: Flame): Cell[][] =>
    answer.function.flatMap((_, index) =>
      index === 0
        ? []
        : [
            [
              side,
              answer.depth[index],
              functionOf(answer, index)?.name ?? `${answer.merged[index]} narrow frames`,
              answer.inclusive[index]![eventName.value],
            ],
          ],
    );
  return [
    ["side", "level", "function", `inclusive ${eventName.value}`],
    ...half("caller", callers),
    ...half("callee", callees),
  ];
}

function SandwichTable({ callers, callees }: { callers: Flame; callees: Flame }) {
  const half = (title: string, answer: Flame) => (
    <section>
      <h3>{title}</h3>
      <table>
        <tbody>
          {direct(answer).map((frames) => {
            const name = eventName.value;
            const costs = { [name]: sum(frames.map((index) => answer.inclusive[index]![name])) };
            const at = functionOf(answer, frames[0]!);
            return (
              <tr key={frames[0]}>
                <td class="num">
                  <Cost costs={costs} whole={answer.inclusive[0]?.[name]} />
                </td>
                <td>
                  {at ? (
                    <button class="name fn" onClick={() => select(at)}>
                      {visible(at.name)}
                    </button>
                  ) : (
                    `${grouped(answer.merged[frames[0]!])} narrow frames`
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
  return (
    <div class="cards">
      {half("Direct callers", callers)}
      {half("Direct callees", callees)}
    </div>
  );
}
