import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

const KEY = "gristmill.inspector";
const MIN_WIDTH = 240;
const STEP = 20;
/** The view keeps at least this part of the window. */
const MAX_SHARE = 0.6;

function bounded(width: number): number {
  return Math.round(Math.max(MIN_WIDTH, Math.min(innerWidth * MAX_SHARE, width)));
}
/** The width of the inspector; null for that of the style sheet. */
const width = signal<number | null>(Number(localStorage.getItem(KEY)) || null);

function setWidth(next: number): void {
  width.value = bounded(next);
  localStorage.setItem(KEY, String(width.value));
}

/** The edge of the inspector: a drag or the arrow keys make it wider. The width is remembered. */
export function Splitter() {
  const edge = useRef<HTMLDivElement>(null);
  const inspector = () => edge.current!.parentElement!;
  useEffect(() => {
    const element = inspector();
    // A property that narrow windows do not use: there, the inspector is a sheet.
    if (width.value === null) element.style.removeProperty("--inspector");
    else element.style.setProperty("--inspector", `${bounded(width.value)}px`);
  }, [width.value]);
  const measured = () => inspector().getBoundingClientRect().width;
  return (
    <div
      class="splitter"
      ref={edge}
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Width of the selection's panel"
      aria-valuenow={width.value ?? 380}
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={Math.round(innerWidth * MAX_SHARE)}
      title="Drag to make the panel wider"
      onPointerDown={(e) => edge.current!.setPointerCapture(e.pointerId)}
      onPointerMove={(e) => {
        if (e.buttons === 1) setWidth(inspector().getBoundingClientRect().right - e.clientX);
      }}
      onKeyDown={(e) => {
        if (e.key === "ArrowLeft") setWidth(measured() + STEP);
        else if (e.key === "ArrowRight") setWidth(measured() - STEP);
        else return;
        e.preventDefault();
      }}
    />
  );
}
