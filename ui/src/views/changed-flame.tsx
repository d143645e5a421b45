// The flame graph of a comparison: both call trees as one.
import { SearchBox, TableSwitch } from "../parts/tools";
import { useMemo, useState } from "preact/hooks";
import type { DiffTree } from "../answers";
import { grouped, percentOf, share, signed, visible } from "../format";
import { place } from "../place";
import { eventName, isSelectedRow, joined } from "../state";
import { Empty, Status, useAnswer } from "../parts/answer";
import { changeToken } from "../parts/colours";
import { relativeChange, sidesOf } from "../parts/cost";
import { moved, ROW, searchPattern, WHOLE, zoomed, type Window } from "../parts/frames";
import { ChangeLegend } from "../parts/legend";
import { Certainty, drawingOf, Picture, type Box, functionClicks } from "../parts/picture";
import { Export } from "../parts/save";
import { ChangedTreeTable } from "./changed-tree";

const MAX_NODES = 4000;

interface Layout {
  /** By node: the left edge and the width, in shares of the root. */
  x: number[];
  width: number[];
}

/**
 * Places the frames. A frame is as wide as the larger of its two sides, and at least as wide as the frames below it: their
 * larger sides can be on different sides of the comparison. Frames of one parent are in the order of names.
 */
function layout(tree: DiffTree, event: string): Layout {
  const larger = tree.nodes.map((node) => {
    const change = node.inclusive[event];
    return Math.max(0, Number(change?.base ?? 0), Number(change?.new ?? 0));
  });
  const below = tree.nodes.map(() => 0);
  const size = [...larger];
  for (let index = tree.nodes.length - 1; index >= 0; index--) {
    size[index] = Math.max(larger[index]!, below[index]!);
    const { parent } = tree.nodes[index]!;
    if (parent !== null) below[parent]! += size[index]!;
  }
  const children: number[][] = tree.nodes.map(() => []);
  tree.nodes.forEach((node, index) => {
    if (node.parent !== null) children[node.parent]!.push(index);
  });
  const roots = tree.nodes.flatMap((node, index) => (node.parent === null ? [index] : []));
  const all = roots.reduce((total, index) => total + size[index]!, 0) || 1;
  const x = tree.nodes.map(() => 0);
  const place = (siblings: number[], from: number) => {
    let at = from;
    const nameOf = (index: number) => tree.functions[tree.nodes[index]!.function]!.name;
    for (const index of [...siblings].sort((a, b) => nameOf(a).localeCompare(nameOf(b)))) {
      x[index] = at;
      at += size[index]! / all;
    }
  };
  place(roots, 0);
  // Parents come before their children.
  tree.nodes.forEach((_, index) => place(children[index]!, x[index]!));
  return { x, width: size.map((one) => one / all) };
}

function boxesOf(
  tree: DiffTree,
  frames: Layout,
  width: number,
  window: Window,
  pattern: RegExp | null,
): Box[] {
  const event = eventName.value;
  const total = sidesOf(tree.totals[event])?.base ?? 0;
  const scale = width / (window.to - window.from);
  return tree.nodes.map((node, index) => {
    const at = tree.functions[node.function]!;
    const change = sidesOf(node.inclusive[event]) ?? { base: 0, new: 0, change: 0 };
    const shown = Number(change.new);
    const larger = Math.max(Number(change.base), shown);
    const isMatch = pattern !== null && pattern.test(at.name);
    const relative = relativeChange(change);
    return {
      x: (frames.x[index]! - window.from) * scale,
      y: node.depth * ROW,
      width: frames.width[index]! * scale,
      height: ROW,
      name: visible(at.name),
      colour: changeToken(share(change.change, total)),
      isEstimate: node.guessed,
      isSelected: isSelectedRow(joined(at)),
      isMatch,
      isDim: pattern !== null && !isMatch,
      missing: larger > 0 ? Math.max(0, 1 - shown / larger) : 0,
      parent: node.parent ?? -1,
      group: node.function,
      say:
        `${visible(at.name)}: ${grouped(change.base)} → ${grouped(change.new)} ${event} inclusive, ` +
        `${signed(change.change)}${relative ? ` (${relative})` : ""}, ${percentOf(change.change, total)} of the total before` +
        (node.guessed ? "; estimate" : ""),
    };
  });
}

export function ChangedFlame() {
  const { filter, asTable, swapped } = place.value;
  const [width, setWidth] = useState(900);
  const [window, setWindow] = useState<Window>(WHOLE);
  const { answer, error } = useAnswer({ kind: "changes_tree", min_share: 1, limit: MAX_NODES });
  const event = eventName.value;
  const frames = useMemo(() => (answer ? layout(answer, event) : null), [answer, event]);
  const { pattern } = searchPattern(filter);
  const boxes = useMemo(
    () => (answer && frames ? boxesOf(answer, frames, width, window, pattern) : []),
    [answer, frames, width, window, filter, swapped, place.value.name, place.value.file],
  );
  const height = ((answer?.nodes.reduce((most, node) => Math.max(most, node.depth), 0) ?? 0) + 1) * ROW;
  if (answer && answer.nodes.length === 0) {
    return <Empty title="No changes">Both profiles have the same cost everywhere.</Empty>;
  }
  const enter = (index: number) => {
    if (!frames) return;
    const from = frames.x[index]!;
    setWindow({ from, to: from + frames.width[index]! });
  };
  const functionAt = (index: number) => {
    const at = answer?.functions[answer.nodes[index]?.function ?? -1];
    return at && joined(at);
  };
  return (
    <>
      <div class="tools">
        <SearchBox />
        {window !== WHOLE ? (
          <button data-action="fit" onClick={() => setWindow(WHOLE)}>
            Whole graph
          </button>
        ) : null}
        <TableSwitch />
        {answer ? (
          <Export
            name="changes"
            json={answer}
            rows={() => changedRows(answer)}
            draw={() => drawingOf(boxes, width, height)}
          />
        ) : null}
      </div>
      <Status answer={answer} error={error}>
        {answer ? (
          <>
            <Certainty basis={answer.basis} />
            {asTable ? (
              <ChangedTreeTable answer={answer} />
            ) : (
              <Picture
                of={answer}
                boxes={boxes}
                height={height}
                label="Flame graph of the changes"
                onWidth={setWidth}
                onEnter={enter}
                onBack={() => setWindow(WHOLE)}
                onHome={() => setWindow(WHOLE)}
                {...functionClicks(functionAt)}
                onZoom={(factor, at) => setWindow(zoomed(window, factor, at))}
                onPan={(by) => setWindow(moved(window, by))}
              />
            )}
            <ChangeLegend />
            <p class="hint">
              A frame is as wide as the larger of its two sides; frames are in the order of names.
            </p>
          </>
        ) : null}
      </Status>
    </>
  );
}

/** The rows of the joined tree, for a table elsewhere. */
export function changedRows(answer: DiffTree): (string | number | null | undefined)[][] {
  const event = eventName.value;
  return [
    ["level", "function", "base", "new", "change"],
    ...answer.nodes.map((node) => {
      const change = sidesOf(node.inclusive[event]);
      return [node.depth, answer.functions[node.function]!.name, change?.base, change?.new, change?.change];
    }),
  ];
}
