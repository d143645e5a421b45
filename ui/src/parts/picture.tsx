// Boxes on a canvas: drawn, hit, walked by arrows and spoken.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { fitted, shorter } from "../names";
import { announce, hover, isDark, select, summary, type Row } from "../state";
import { inkOn, palette } from "./colours";
import { openMenu } from "./menu";
import { xml, type Drawing } from "./save";

/** A rectangle of a picture, in pixels. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  name: string;
  /** The colour token. */
  colour: string;
  /** The place is an estimate: a dotted edge. */
  isEstimate: boolean;
  isSelected: boolean;
  isMatch: boolean;
  isDim: boolean;
  /** The share of the width, at the right, that is missing on the shown side: hatched. */
  missing: number;
  /** The index of the box that this one belongs to; -1 for none. */
  parent: number;
  /** The box's function, so that all boxes of one function are marked; -1 for none. */
  group: number;
  /** The sentence of the status strip and of screen readers. */
  say: string;
}

const LABEL = "11px system-ui, sans-serif";
const MIN_LABEL_WIDTH = 24;
const MIN_LABEL_HEIGHT = 13;
/** Boxes of rows have this height at most; higher ones are tiles, with an outline. */
const MAX_ROW_HEIGHT = 24;
const DRAG_PIXELS = 4;
/** Opacities of dimmed boxes, and of the edge of an estimate. */
const DIM = 0.45;
const ESTIMATE_EDGE = 0.7;

export interface PictureOptions {
  /** The answer that the boxes are of. */
  of: unknown;
  boxes: Box[];
  height: number;
  label: string;
  /** A box to mark and bring into sight, by index. */
  cursor?: number;
  onWidth: (width: number) => void;
  /** Selects a box, by a click or by a walk of arrow keys. */
  onSelect: (index: number, isWalk: boolean) => void;
  onEnter: (index: number) => void;
  onBack: () => void;
  onHome: () => void;
  onMenu?: (e: MouseEvent, index: number) => void;
  /** Zooms by a factor around a share of the width. */
  onZoom?: (factor: number, at: number) => void;
  /** Moves by a share of the width. */
  onPan?: (by: number) => void;
}

/** The widest form of a name that fits, measured with the pen. */
function label(name: string, width: number, pen: CanvasRenderingContext2D): string {
  const forms = shorter(name);
  const fitting = forms.find((form) => pen.measureText(form).width <= width);
  if (fitting !== undefined) return fitting;
  const last = forms.at(-1)!;
  let low = 0;
  let high = Math.min(last.length, 400);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${last.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? "" : `${last.slice(0, low)}…`;
}

function hatch(pen: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.beginPath();
  for (let at = x - height; at < x + width; at += 5) {
    pen.moveTo(at, y + height);
    pen.lineTo(at + height, y);
  }
  pen.lineWidth = 1;
  pen.stroke();
  pen.restore();
}

function outline(pen: CanvasRenderingContext2D, box: Box, colour: string, width: number): void {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.strokeRect(
    box.x + width / 2,
    box.y + width / 2,
    Math.max(1, box.width - 1 - width),
    box.height - 1 - width,
  );
}

/** Draws the boxes in sight. */
function draw(element: HTMLCanvasElement, boxes: Box[], cursor: number, group: number): void {
  const ratio = devicePixelRatio || 1;
  const width = element.clientWidth;
  const height = element.clientHeight;
  element.width = Math.round(width * ratio);
  element.height = Math.round(height * ratio);
  const pen = element.getContext("2d");
  if (!pen) return;
  const colour = palette();
  pen.scale(ratio, ratio);
  pen.font = LABEL;
  pen.textBaseline = "middle";
  boxes.forEach((box, index) => {
    if (box.width < 0.4 || box.x > width || box.x + box.width < 0) return;
    const fill = colour(box.colour);
    const ink = inkOn(fill);
    pen.globalAlpha = box.isDim ? DIM : 1;
    pen.fillStyle = fill;
    pen.fillRect(box.x, box.y, Math.max(0.5, box.width - 1), box.height - 1);
    if (box.missing > 0) {
      const part = box.width * box.missing;
      pen.fillStyle = colour("--bg");
      pen.fillRect(box.x + box.width - part, box.y, Math.max(0, part - 1), box.height - 1);
      pen.strokeStyle = fill;
      pen.lineWidth = 1;
      hatch(pen, box.x + box.width - part, box.y, Math.max(0, part - 1), box.height - 1);
      pen.strokeRect(box.x + 0.5, box.y + 0.5, Math.max(0.5, box.width - 2), box.height - 2);
    }
    if (box.height > MAX_ROW_HEIGHT) outline(pen, box, colour("--bg"), 1);
    if (box.isEstimate && box.width > 6) {
      pen.setLineDash([1, 3]);
      pen.globalAlpha *= ESTIMATE_EDGE;
      outline(pen, box, ink, 1);
      pen.globalAlpha = box.isDim ? DIM : 1;
      pen.setLineDash([]);
    }
    if (group >= 0 && box.group === group) outline(pen, box, colour("--accent"), 1);
    if (box.isMatch) outline(pen, box, colour("--match"), 2);
    if (box.isSelected) outline(pen, box, ink, 2);
    if (index === cursor) outline(pen, box, colour("--accent"), 2);
    if (box.width <= MIN_LABEL_WIDTH || box.height < MIN_LABEL_HEIGHT) return;
    // A wide box that begins left of the window has its label at the window's edge.
    const left = Math.max(0, box.x);
    const room = Math.min(width, box.width - (left - box.x)) - 8;
    const text = room > 16 ? label(box.name, room, pen) : "";
    if (!text) return;
    const y = box.y + Math.min(box.height, 20) / 2;
    const onFill = pen.measureText(text).width <= room * (1 - box.missing);
    if (!onFill) {
      // Over the hatching, the text has a ground of its own.
      pen.strokeStyle = colour("--bg");
      pen.lineWidth = 4;
      pen.lineJoin = "round";
      pen.strokeText(text, left + 4, y);
    }
    pen.fillStyle = onFill ? ink : colour("--text");
    pen.fillText(text, left + 4, y);
  });
  pen.globalAlpha = 1;
}

/** The same picture as a document. */
export function drawingOf(boxes: Box[], width: number, height: number): Drawing {
  const colour = palette();
  const shapes = boxes
    .filter((box) => box.width >= 0.4 && box.x < width && box.x + box.width > 0)
    .map((box) => {
      const fill = colour(box.colour);
      const size = `width="${Math.max(0.5, box.width - 1).toFixed(2)}" height="${(box.height - 1).toFixed(2)}"`;
      const dotted = box.isEstimate
        ? ` stroke="${inkOn(fill)}" stroke-dasharray="2 2" stroke-width="0.7"`
        : "";
      const text =
        box.width > MIN_LABEL_WIDTH && box.height >= MIN_LABEL_HEIGHT
          ? fitted(box.name, (box.width - 8) / 6.2)
          : "";
      const y = (box.y + Math.min(box.height, 20) / 2 + 4).toFixed(2);
      const words = text
        ? `<text x="${(box.x + 4).toFixed(2)}" y="${y}" fill="${inkOn(fill)}">${xml(text)}</text>`
        : "";
      return `<g><title>${xml(box.say)}</title><rect x="${box.x.toFixed(2)}" y="${box.y.toFixed(2)}" ${size} fill="${fill}"${dotted}/>${words}</g>`;
    });
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="system-ui, sans-serif" font-size="11"><rect width="100%" height="100%" fill="${colour("--bg")}"/>` +
    `${shapes.join("")}</svg>`;
  return { svg, width, height };
}

/** Boxes by rows of pixels, so that a pointer looks at few of them. */
function rowsOf(boxes: Box[]): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  boxes.forEach((box, index) => {
    for (let row = Math.floor(box.y / MAX_ROW_HEIGHT); row * MAX_ROW_HEIGHT < box.y + box.height; row++) {
      const list = rows.get(row);
      if (list) list.push(index);
      else rows.set(row, [index]);
    }
  });
  return rows;
}

/** Clicks in a picture whose boxes are functions: one selects, with the right button it opens the menu. */
export function functionClicks(functionAt: (index: number) => Row | undefined) {
  return {
    onSelect: (index: number, isWalk: boolean) => {
      const at = functionAt(index);
      if (at) select(at, undefined, isWalk);
    },
    onMenu: (e: MouseEvent, index: number) => {
      const at = functionAt(index);
      if (at) openMenu(e, at);
    },
  };
}

export function Picture(options: PictureOptions) {
  const { boxes, height } = options;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [cursor, setCursor] = useState(-1);
  const [group, setGroup] = useState(-1);
  const [width, setWidth] = useState(0);
  const drag = useRef({ x: 0, moved: false, isDown: false });
  const rows = useMemo(() => rowsOf(boxes), [boxes]);
  const dark = isDark.value;

  useEffect(() => {
    const element = canvas.current!;
    const observer = new ResizeObserver(() => {
      const measured = Math.max(100, Math.floor(element.clientWidth));
      setWidth(measured);
      options.onWidth(measured);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = canvas.current!;
    element.style.height = `${height}px`;
    const frame = requestAnimationFrame(() => draw(element, boxes, cursor, group));
    return () => cancelAnimationFrame(frame);
  }, [boxes, height, cursor, group, dark, width]);
  // Indexes are those of one answer: with another one, they mean other boxes.
  useEffect(() => setCursor(-1), [options.of]);
  useEffect(() => {
    if (options.cursor !== undefined && options.cursor >= 0) setCursor(options.cursor);
  }, [options.cursor]);
  useEffect(() => {
    const element = canvas.current!;
    // Not passive: with Ctrl, the wheel zooms the picture instead of the page.
    const onWheel = (e: WheelEvent) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      const area = element.getBoundingClientRect();
      options.onZoom?.(2 ** (-e.deltaY / 200), (e.clientX - area.left) / area.width);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [options.onZoom]);

  const hit = (e: MouseEvent): number => {
    const area = canvas.current!.getBoundingClientRect();
    const x = e.clientX - area.left;
    const y = e.clientY - area.top;
    // The last box that contains the point is the innermost one.
    return (
      rows.get(Math.floor(y / MAX_ROW_HEIGHT))?.findLast((index) => {
        const box = boxes[index]!;
        return x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
      }) ?? -1
    );
  };
  const moveTo = (index: number | undefined, isWalk: boolean) => {
    const box = boxes[index ?? -1];
    if (index === undefined || !box) return;
    setCursor(index);
    hover.value = box.say;
    announce.value = box.say;
    options.onSelect(index, isWalk);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const box = boxes[cursor];
    if (e.key === "Enter") {
      if (box) options.onEnter(cursor);
    } else if (e.key === "Escape" || e.key === "Backspace") options.onBack();
    else if (e.key === "Home") options.onHome();
    else if (!e.key.startsWith("Arrow") || e.altKey) return;
    else if (!box) moveTo(0, true);
    else moveTo(neighbour(boxes, cursor, e.key), true);
    e.preventDefault();
    e.stopPropagation();
  };
  const onPointerMove = (e: PointerEvent) => {
    if (drag.current.isDown && options.onPan) {
      const by = e.clientX - drag.current.x;
      if (drag.current.moved || Math.abs(by) > DRAG_PIXELS) {
        drag.current = { x: e.clientX, moved: true, isDown: true };
        options.onPan(by / Math.max(1, width));
      }
      return;
    }
    const box = boxes[hit(e)];
    hover.value = box?.say ?? "";
    setGroup(box?.group ?? -1);
    canvas.current!.style.cursor = box ? "pointer" : "default";
  };
  return (
    <canvas
      ref={canvas}
      tabIndex={0}
      role="application"
      aria-label={`${options.label}. Arrows move, Enter zooms, Escape goes one level up.`}
      onKeyDown={onKeyDown}
      onPointerDown={(e) => {
        drag.current = { x: e.clientX, moved: false, isDown: e.button === 0 };
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        drag.current.isDown = false;
      }}
      onPointerLeave={() => {
        drag.current.isDown = false;
        hover.value = "";
        setGroup(-1);
      }}
      onClick={(e) => {
        if (!drag.current.moved) moveTo(hit(e), false);
      }}
      onDblClick={(e) => {
        const index = hit(e);
        if (index >= 0) options.onEnter(index);
      }}
      onContextMenu={(e) => {
        const index = hit(e);
        if (index >= 0) options.onMenu?.(e, index);
      }}
    />
  );
}

/** The box that an arrow key leads to: boxes of one parent are side by side, a parent and its boxes above each other. */
function neighbour(boxes: Box[], from: number, key: string): number | undefined {
  const box = boxes[from]!;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const siblings = boxes
      .map((_, index) => index)
      .filter((index) => boxes[index]!.parent === box.parent && isLevel(boxes[index]!, box))
      .sort((a, b) => boxes[a]!.x - boxes[b]!.x || boxes[a]!.y - boxes[b]!.y);
    return siblings[siblings.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
  }
  const isBeyond = (other: Box) => (key === "ArrowDown" ? other.y > box.y : other.y < box.y);
  const parent = boxes[box.parent];
  if (parent && isBeyond(parent)) return box.parent;
  let widest: number | undefined;
  boxes.forEach((other, index) => {
    if (other.parent !== from || !isBeyond(other)) return;
    if (widest === undefined || other.width * other.height > boxes[widest]!.width * boxes[widest]!.height)
      widest = index;
  });
  return widest;
}

/** `true` for boxes of one row, and for tiles of any. */
function isLevel(a: Box, b: Box): boolean {
  return a.height > MAX_ROW_HEIGHT || b.height > MAX_ROW_HEIGHT || a.y === b.y;
}

/** Says how certain a tree is. */
export function Certainty({ basis, share }: { basis: string; share?: string }) {
  if (basis === "exact") return null;
  if (summary.value?.has.calls === false) {
    return <p class="note">The profile has no calls: each function stands for itself.</p>;
  }
  if (basis === "callers") {
    return <p class="note">Each stack occurred, but begins where the recorded callers end.</p>;
  }
  return (
    <p class="note">
      <b>Estimate:</b> the profile has calls between two functions, not whole stacks. Dotted boxes and ~ mark
      costs that are divided among callers
      {share === "0%" ? "; there are none here" : share ? `: ${share} of the cost` : ""}.
    </p>
  );
}
