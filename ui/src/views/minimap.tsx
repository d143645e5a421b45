import { useEffect, useRef } from "preact/hooks";
import type { Flame } from "../answers";
import type { Colours } from "../place";
import { isDark } from "../state";
import { palette, type Groups } from "../parts/colours";
import { functionOf, keyOf, type Window } from "../parts/frames";

const HEIGHT = 24;

/** The whole graph in a strip, with the shown window. A click moves the window there. */
export function Minimap({
  answer,
  window,
  groups,
  colours,
  onWindow,
}: {
  answer: Flame;
  window: Window;
  groups: Groups;
  colours: Colours;
  onWindow: (window: Window) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dark = isDark.value;
  useEffect(() => {
    const element = canvas.current!;
    const ratio = devicePixelRatio || 1;
    const width = element.clientWidth;
    element.width = width * ratio;
    element.height = HEIGHT * ratio;
    const pen = element.getContext("2d")!;
    const colour = palette();
    pen.scale(ratio, ratio);
    const levels = answer.depth.reduce((a, b) => Math.max(a, b), 0) + 1;
    answer.function.forEach((_, index) => {
      const at = functionOf(answer, index);
      pen.fillStyle = colour(at ? groups.token(keyOf(at, colours)) : "--g7");
      const top = (answer.depth[index]! / levels) * HEIGHT;
      pen.fillRect(
        answer.x[index]! * width,
        top,
        Math.max(0.5, answer.width[index]! * width),
        HEIGHT / levels,
      );
    });
    pen.strokeStyle = colour("--accent");
    pen.lineWidth = 2;
    const size = Math.max(3, (window.to - window.from) * width);
    pen.strokeRect(window.from * width + 1, 1, size - 2, HEIGHT - 2);
  }, [answer, window.from, window.to, dark, groups]);
  return (
    <canvas
      class="minimap"
      ref={canvas}
      aria-hidden="true"
      title="The whole graph: a click moves the window"
      onClick={(e) => {
        const area = canvas.current!.getBoundingClientRect();
        const at = (e.clientX - area.left) / area.width;
        const size = Math.min(1, Math.max(window.to - window.from, 0.001));
        const from = Math.max(0, Math.min(1 - size, at - size / 2));
        onWindow({ from, to: from + size });
      }}
    />
  );
}
