// What the treemaps of a profile and of a comparison have in common.
import { useEffect, useState } from "preact/hooks";
import { grouped, visible } from "../format";
import { go, place } from "../place";
import { startAtProgram } from "../state";

const MIN_HEIGHT = 320;
/** Space for the bars around the picture. */
const AROUND = 250;
const STEP = 20;

/** The height of the picture, from that of the window, in steps: each step asks again. */
function pictureHeight(): number {
  return Math.max(MIN_HEIGHT, Math.floor((innerHeight - AROUND) / STEP) * STEP);
}

/** The height of the picture, which follows the window. */
function usePictureHeight(): number {
  const [height, setHeight] = useState(pictureHeight());
  useEffect(() => {
    const onResize = () => setHeight(pictureHeight());
    addEventListener("resize", onResize);
    return () => removeEventListener("resize", onResize);
  }, []);
  return height;
}

/** The choice of callees or callers. */
function Direction({ hasFunction }: { hasFunction: boolean }) {
  const { callers } = place.value;
  return (
    <span class="tabs" role="group" aria-label="Direction">
      <button aria-pressed={!callers} onClick={() => go({ callers: false })}>
        Callees
      </button>
      <button
        aria-pressed={callers}
        title="The callers of the root, or of the selection"
        disabled={!hasFunction}
        onClick={() => go({ callers: true })}
      >
        Callers
      </button>
    </span>
  );
}

/** The size of the picture, which follows the window in steps. */
export function usePictureSize() {
  const [width, setWidth] = useState(900);
  const onWidth = (measured: number) => setWidth(Math.floor(measured / STEP) * STEP);
  return { width, onWidth, height: usePictureHeight() };
}

/** The choice of what is drawn, and the way back to the whole program. */
export function TreemapTools({ hasFunction }: { hasFunction: boolean }) {
  const { rootName } = place.value;
  return (
    <>
      <Direction hasFunction={rootName !== "" || hasFunction} />
      {rootName !== "" ? (
        <button data-action="fit" onClick={startAtProgram}>
          Whole program
        </button>
      ) : null}
    </>
  );
}

/** The rectangles that treemaps have, of a profile or of a comparison. */
interface Tiles<Function> {
  functions: Function[];
  tiles: { kind: string; function: number | null; merged: number; parent: number | null }[];
}

/** The function of a tile; undefined for self cost and for small ones. */
export function tileFunction<Function>(answer: Tiles<Function>, index: number): Function | undefined {
  const at = answer.tiles[index]?.function;
  return at === null || at === undefined ? undefined : answer.functions[at];
}

export function tileName(answer: Tiles<{ name: string }>, index: number): string {
  const tile = answer.tiles[index]!;
  if (tile.kind === "rest") return `${grouped(tile.merged)} small ones`;
  return tile.kind === "self" ? "self" : visible(tileFunction(answer, index)?.name ?? "");
}

/** By tile: `true` if others are in it. */
export function outerTiles(answer: Tiles<unknown>): boolean[] {
  const isOuter = answer.tiles.map(() => false);
  for (const { parent } of answer.tiles) if (parent !== null) isOuter[parent] = true;
  return isOuter;
}
