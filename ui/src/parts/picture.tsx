import { useEffect, useRef, useState } from "preact/hooks";
import { announce, hover, isDark } from "../state";
import { shorter } from "../format";

/** A rectangle of a picture, in pixels. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  name: string;
  colour: string;
  hatched: boolean;
  isSelected: boolean;
  isDim: boolean;
  parent: number;
  say: string;
  header: boolean;
}

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
/** The colour token of a name: the same for a name everywhere. Group 7 is grey. */
export function colourOf(ranks: Map<string, number>, key: string): string {
  return `--g${Math.min(7, ranks.get(key) ?? 7)}`;
}

/** Boxes on a canvas: drawn, hit, walked by arrows and spoken. */
export function Picture({
  boxes,
  height,
  label,
  onWidth,
  onSelect,
  onEnter,
  onBack,
  onHome,
}: {
  boxes: Box[];
  height: number;
  label: string;
  onWidth: (width: number) => void;
  onSelect: (index: number) => void;
  onEnter: (index: number) => void;
  onBack: () => void;
  onHome: () => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState(-1);
  const dark = isDark.value;
  useEffect(() => {
    const element = canvas.current!;
    const observer = new ResizeObserver(() => onWidth(Math.max(100, Math.floor(element.clientWidth))));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = canvas.current!,
      ratio = devicePixelRatio || 1,
      width = element.clientWidth;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    element.style.height = `${height}px`;
    const pen = element.getContext("2d");
    if (!pen) return;
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const text = css("--text"),
      ground = css("--bg"),
      accent = css("--accent"),
      colours = new Map<string, string>();
    boxes.forEach((box, index) => {
      if (box.width < 0.4) return;
      let fill = colours.get(box.colour);
      if (fill === undefined) colours.set(box.colour, (fill = css(box.colour)));
      pen.globalAlpha = box.isDim ? 0.3 : 1;
      pen.fillStyle = fill;
      pen.fillRect(box.x, box.y, Math.max(0.5, box.width - 1), box.height - 1);
      if (box.height > 24 || (box.parent >= 0 && boxes[box.parent]!.height > 24)) {
        pen.strokeStyle = ground;
        pen.lineWidth = 1;
        pen.strokeRect(box.x + 0.5, box.y + 0.5, Math.max(0.5, box.width - 1), Math.max(0.5, box.height - 1));
      }
      if (box.hatched && box.width > 6) {
        pen.strokeStyle = text;
        pen.lineWidth = 1;
        pen.setLineDash([2, 2]);
        pen.strokeRect(box.x + 1, box.y + 1, box.width - 3, box.height - 3);
        pen.setLineDash([]);
      }
      if (box.isSelected || index === at) {
        pen.strokeStyle = index === at ? accent : text;
        pen.lineWidth = 2;
        pen.strokeRect(box.x + 1, box.y + 1, Math.max(1, box.width - 3), box.height - 3);
      }
      if (box.width > 24 && box.height >= 13 && box.header) {
        const label =
          shorter(box.name).find((form) => pen.measureText(form).width <= box.width - 8) ??
          clip(shorter(box.name).at(-1)!, box.width - 8, pen);
        pen.fillStyle = text;
        if (label) pen.fillText(label, box.x + 4, box.y + Math.min(box.height, 20) / 2);
      }
    });
    pen.globalAlpha = 1;
  }, [boxes, height, at, dark]);
  const hit = (e: MouseEvent) => {
    const area = canvas.current!.getBoundingClientRect(),
      x = e.clientX - area.left,
      y = e.clientY - area.top;
    for (let i = boxes.length - 1; i >= 0; i--) {
      const box = boxes[i]!;
      if (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height) return i;
    }
    return -1;
  };
  const move = (index: number | undefined) => {
    if (index === undefined || index < 0) return;
    setAt(index);
    hover.value = boxes[index]!.say;
    announce.value = boxes[index]!.say;
    onSelect(index);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const box = boxes[at],
      siblings = box ? boxes.map((_, i) => i).filter((i) => boxes[i]!.parent === box.parent) : [],
      place = siblings.indexOf(at);
    if (e.key === "Enter") {
      if (box) onEnter(at);
    } else if (e.key === "Escape" || e.key === "Backspace") onBack();
    else if (e.key === "Home") onHome();
    else if (e.key.startsWith("Arrow")) {
      if (!box) move(0);
      else if (e.key === "ArrowRight") move(siblings[place + 1]);
      else if (e.key === "ArrowLeft") move(siblings[place - 1]);
      else if (e.key === "ArrowUp") move(box.parent);
      else move(boxes.findIndex((other) => other.parent === at));
    } else return;
    e.preventDefault();
  };
  return (
    <canvas
      ref={canvas}
      tabIndex={0}
      role="application"
      aria-label={`${label}. Arrows move, Enter zooms, Escape goes back.`}
      onKeyDown={onKeyDown}
      onMouseMove={(e) => {
        const i = hit(e);
        hover.value = i < 0 ? "" : boxes[i]!.say;
        canvas.current!.style.cursor = i < 0 ? "default" : "pointer";
      }}
      onMouseLeave={() => {
        hover.value = "";
      }}
      onClick={(e) => move(hit(e))}
      onDblClick={(e) => {
        const i = hit(e);
        if (i >= 0) onEnter(i);
      }}
    />
  );
}

function clip(name: string, width: number, pen: CanvasRenderingContext2D): string {
  let low = 0,
    high = name.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${name.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? "" : `${name.slice(0, low)}…`;
}

/** Says how certain a tree is. */
export function Certainty({ basis }: { basis: string }) {
  return basis === "exact" ? null : (
    <p class="note">
      {basis === "callers"
        ? "Each stack occurred, but begins where the recorded callers end."
        : "Estimate: the profile has calls between two functions, not whole stacks. Dotted boxes and ~ mark costs that are divided among callers."}
    </p>
  );
}
