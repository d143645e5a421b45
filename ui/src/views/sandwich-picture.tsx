// What the sandwiches of a profile and of a comparison have in common: two flame graphs as one picture.
import { useState } from "preact/hooks";
import { select, type Row } from "../state";
import { functionOf, moved, WHOLE, zoomed, type FrameLists, type Window } from "../parts/frames";
import { openMenu } from "../parts/menu";
import { Picture, type Box } from "../parts/picture";

export const RESOLUTION = 4096;

/** Joins the boxes of both halves. The function itself is the first of both: it is drawn once. */
export function joinHalves(upper: Box[], lower: Box[], groupOf: (group: number) => number): Box[] {
  const tail = lower.slice(1).map((box) => ({
    ...box,
    parent: box.parent === 0 ? 0 : box.parent + upper.length - 1,
    group: box.group < 0 ? -1 : groupOf(box.group),
  }));
  if (upper[0] && lower[0]) upper[0].say = lower[0].say;
  return [...upper, ...tail];
}

/** The function of a box of both halves. */
export function functionOfHalves<Function>(
  callers: FrameLists<Function>,
  callees: FrameLists<Function>,
  index: number,
): Function | undefined {
  const upper = callers.function.length;
  return index < upper ? functionOf(callers, index) : functionOf(callees, index - upper + 1);
}

/** The part of the picture in sight. */
export function useWindow() {
  const [window, setWindow] = useState<Window>(WHOLE);
  return { window, setWindow };
}

/** The button that shows the whole picture again. */
export function WholePicture({ of: { window, setWindow } }: { of: ReturnType<typeof useWindow> }) {
  if (window === WHOLE) return null;
  return (
    <button data-action="fit" onClick={() => setWindow(WHOLE)}>
      Whole picture
    </button>
  );
}

export function SandwichPicture({
  of,
  boxes,
  height,
  label,
  sight: { window, setWindow },
  onWidth,
  rowAt,
}: {
  of: unknown;
  boxes: Box[];
  height: number;
  label: string;
  sight: ReturnType<typeof useWindow>;
  onWidth: (width: number) => void;
  rowAt: (index: number) => Row | undefined;
}) {
  return (
    <Picture
      of={of}
      boxes={boxes}
      height={height}
      label={label}
      onWidth={onWidth}
      onSelect={() => undefined}
      onEnter={(index) => {
        const at = rowAt(index);
        if (at) select(at);
      }}
      onBack={() => (window === WHOLE ? history.back() : setWindow(WHOLE))}
      onHome={() => setWindow(WHOLE)}
      onMenu={(e, index) => {
        const at = rowAt(index);
        if (at) openMenu(e, at);
      }}
      onZoom={(factor, at) => setWindow(zoomed(window, factor, at))}
      onPan={(by) => setWindow(moved(window, by))}
    />
  );
}
