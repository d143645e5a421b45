import { useEffect, useRef } from "preact/hooks";
import { isDark } from "../state";
import { heatToken, LINE_STEPS, palette } from "./colours";

const WIDTH = 14;

/** The whole listing in a strip: a mark for each row with cost. A click goes there. */
export function HeatStrip({ shares, onPick }: { shares: number[]; onPick: (row: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dark = isDark.value;
  useEffect(() => {
    const element = canvas.current!;
    const draw = () => {
      const ratio = devicePixelRatio || 1;
      const height = element.clientHeight;
      element.width = WIDTH * ratio;
      element.height = height * ratio;
      const pen = element.getContext("2d")!;
      const colour = palette();
      pen.scale(ratio, ratio);
      const step = height / Math.max(1, shares.length);
      // Hot rows last, so that a cool neighbour on the same pixel does not hide them.
      const order = shares.map((_, row) => row).sort((a, b) => shares[a]! - shares[b]!);
      for (const row of order) {
        if (shares[row]! <= 0) continue;
        pen.fillStyle = colour(heatToken(shares[row]!, LINE_STEPS));
        pen.fillRect(0, row * step, WIDTH, Math.max(2, step));
      }
    };
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [shares, dark]);
  return (
    <canvas
      class="heat-strip"
      ref={canvas}
      aria-hidden="true"
      title="Rows with cost: a click goes there"
      onClick={(e) => {
        const area = canvas.current!.getBoundingClientRect();
        onPick(Math.floor(((e.clientY - area.top) / area.height) * shares.length));
      }}
    />
  );
}
