// Zoom and pan of the call graph.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { hover } from "../state";

const MAX_ZOOM = 4;
/** Space around a whole graph. */
const MARGIN = 24;
/** Names are hard to read below this scale. */
const MIN_FIRST_SCALE = 0.75;

/** A rectangle of a drawing, in its units. */
export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A drawing with boxes. */
export interface Laid {
  width: number;
  height: number;
  nodes: (Rectangle & { is_center: boolean })[];
}

/** The part of the picture in sight, in its own units. */
interface Sight {
  x: number;
  y: number;
  scale: number;
}

/** The uppermost node: where the program starts. */
function topmost(graph: Laid): Rectangle | undefined {
  return [...graph.nodes].sort((a, b) => a.y - b.y)[0];
}

/** The start of a part around a middle, without empty space beside the whole if it is larger than the part. */
function within(middle: number, whole: number, part: number): number {
  const space = MARGIN / 2;
  if (part >= whole) return (whole - part) / 2;
  return Math.max(-space, Math.min(whole - part + space, middle - part / 2));
}

/** Zoom and pan of the drawing. */
export function useSight(graph: Laid) {
  const area = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 900, height: 500 });
  const [sight, setSight] = useState<Sight>({ x: 0, y: 0, scale: 1 });
  const fitScale = Math.min(1, (size.width - MARGIN) / graph.width, (size.height - MARGIN) / graph.height);
  useEffect(() => {
    const element = area.current!;
    const observer = new ResizeObserver(() => {
      setSize({ width: Math.max(100, element.clientWidth), height: Math.max(100, element.clientHeight) });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const fit = () => {
    // A large graph is not made unreadable: it begins around the function in the middle.
    const scale = Math.max(fitScale, MIN_FIRST_SCALE);
    const isWhole = scale === fitScale;
    const node = graph.nodes.find((one) => one.is_center) ?? topmost(graph);
    const middleX = isWhole || !node ? graph.width / 2 : node.x + node.width / 2;
    const middleY = isWhole || !node ? graph.height / 2 : node.y + node.height / 2;
    setSight({
      x: within(middleX, graph.width, size.width / scale),
      y: within(middleY, graph.height, size.height / scale),
      scale,
    });
  };
  useEffect(fit, [graph, size.width, size.height]);
  const zoom = (factor: number, atX = 0.5, atY = 0.5) =>
    setSight((old) => {
      const scale = Math.max(Math.min(fitScale, 0.2), Math.min(MAX_ZOOM, old.scale * factor));
      const x = old.x + (size.width * atX) / old.scale - (size.width * atX) / scale;
      const y = old.y + (size.height * atY) / old.scale - (size.height * atY) / scale;
      return { x, y, scale };
    });
  const pan = (byX: number, byY: number) =>
    setSight((old) => ({ ...old, x: old.x - byX / old.scale, y: old.y - byY / old.scale }));
  const centre = (node: Rectangle) =>
    setSight((old) => {
      const isInSight =
        node.x >= old.x &&
        node.y >= old.y &&
        node.x + node.width <= old.x + size.width / old.scale &&
        node.y + node.height <= old.y + size.height / old.scale;
      if (isInSight) return old;
      return {
        ...old,
        x: node.x + node.width / 2 - size.width / old.scale / 2,
        y: node.y + node.height / 2 - size.height / old.scale / 2,
      };
    });
  useEffect(() => {
    const element = area.current!;
    const onWheel = (e: WheelEvent) => {
      e.preventDefault();
      const box = element.getBoundingClientRect();
      if (e.ctrlKey || e.metaKey) {
        zoom(2 ** (-e.deltaY / 200), (e.clientX - box.left) / box.width, (e.clientY - box.top) / box.height);
      } else pan(-e.deltaX, -e.deltaY);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  });
  return { area, size, sight, fitScale, fit, zoom, pan, centre };
}

/** The whole graph in a corner, with the part in sight. */
function BirdsEye({
  graph,
  sight,
  size,
}: {
  graph: Laid;
  sight: Sight;
  size: { width: number; height: number };
}) {
  return (
    <svg class="birds-eye" viewBox={`0 0 ${graph.width} ${graph.height}`} aria-hidden="true">
      {graph.nodes.map((node, index) => (
        <rect key={index} x={node.x} y={node.y} width={node.width} height={node.height} />
      ))}
      <rect
        class="sight"
        x={sight.x}
        y={sight.y}
        width={size.width / sight.scale}
        height={size.height / sight.scale}
      />
    </svg>
  );
}

/** A lower picture has no space for its bird's eye. */
const MIN_BIRDS_EYE_HEIGHT = 360;

/** A drawing that can be zoomed and dragged, with its bird's eye. */
export function Sheet({
  graph,
  of,
  label,
  hint,
  children,
}: {
  graph: Laid;
  of: ReturnType<typeof useSight>;
  label: string;
  hint: string;
  children: ComponentChildren;
}) {
  const { area, size, sight, fitScale, fit, zoom, pan } = of;
  const drag = useRef({ x: 0, y: 0, isDown: false });
  const { x, y, scale } = sight;
  return (
    <div class="graph-frame">
      <div
        class="graph-area"
        ref={area}
        onPointerDown={(e) => {
          drag.current = { x: e.clientX, y: e.clientY, isDown: e.button === 0 };
        }}
        onPointerMove={(e) => {
          const from = drag.current;
          if (!from.isDown) return;
          pan(e.clientX - from.x, e.clientY - from.y);
          drag.current = { x: e.clientX, y: e.clientY, isDown: true };
        }}
        onPointerUp={() => {
          drag.current.isDown = false;
        }}
        onPointerLeave={() => {
          drag.current.isDown = false;
          hover.value = "";
        }}
      >
        <svg
          class="graph"
          width={size.width}
          height={size.height}
          viewBox={`${x} ${y} ${size.width / scale} ${size.height / scale}`}
          role="group"
          aria-label={label}
        >
          {children}
        </svg>
      </div>
      {scale > fitScale * 1.2 && size.height > MIN_BIRDS_EYE_HEIGHT ? (
        <BirdsEye graph={graph} sight={sight} size={size} />
      ) : null}
      <div class="below">
        <p class="hint">{hint}</p>
        <span class="zoom" role="group" aria-label="Zoom">
          <button
            data-action="smaller"
            aria-label="Smaller"
            title="Smaller (-)"
            onClick={() => zoom(1 / 1.25)}
          >
            −
          </button>
          <button data-action="fit" aria-label="Fit into the window" title="Fit (0)" onClick={fit}>
            {Math.round(scale * 100)}%
          </button>
          <button data-action="larger" aria-label="Larger" title="Larger (+)" onClick={() => zoom(1.25)}>
            +
          </button>
        </span>
      </div>
    </div>
  );
}
