// Arrows of jumps in the margin of a listing: each row draws its part of the lanes.
import type { Exact } from "../answers";
import { grouped } from "../format";

export interface Jump {
  /** Rows of the listing. */
  from: number;
  to: number;
  taken: Exact;
  /** The count of times it was reached; null without a condition. */
  executed: Exact | null;
}

export interface Lanes {
  /** The count of lanes. */
  width: number;
  /** By row: the jumps that begin, pass or end there, with their lanes. */
  rows: Map<number, { jump: Jump; lane: number }[]>;
  /** The count of jumps that found no lane. */
  hidden: number;
}

/** A bit for each of 8. */
const ALL_LANES = 0xff;
/** A jump across more rows than this draws only its ends. */
const MAX_DRAWN_ROWS = 20_000;
const LANE_PIXELS = 7;

/** Gives each jump a lane, the short ones next to the text, so that arrows do not overlap. */
export function lanesOf(jumps: Jump[]): Lanes {
  const rows: Lanes["rows"] = new Map();
  // The lanes that are taken, as bits: by row, and by 64 rows.
  const count = jumps.reduce((count, { from, to }) => Math.max(count, from + 1, to + 1), 0);
  const [taken, takenBy64] = [new Uint8Array(count), new Uint8Array(count / 64 + 1)];
  let [width, hidden] = [0, 0];
  const size = (jump: Jump) => Math.abs(jump.to - jump.from);
  for (const jump of [...jumps].sort((a, b) => size(a) - size(b))) {
    const [first, last] = [Math.min(jump.from, jump.to), Math.max(jump.from, jump.to)];
    let bits = size(jump) > MAX_DRAWN_ROWS ? ALL_LANES : 0;
    for (let row = first; row <= last && bits !== ALL_LANES;) {
      const isWhole = row % 64 === 0 && row + 63 <= last;
      bits |= isWhole ? takenBy64[row / 64]! : taken[row]!;
      row += isWhole ? 64 : 1;
    }
    if (bits === ALL_LANES) {
      hidden += 1;
      continue;
    }
    const bit = ~bits & (bits + 1);
    const lane = Math.log2(bit);
    width = Math.max(width, lane + 1);
    for (let row = first; row <= last; row++) {
      taken[row]! |= bit;
      takenBy64[row >> 6]! |= bit;
      const list = rows.get(row);
      if (list) list.push({ jump, lane });
      else rows.set(row, [{ jump, lane }]);
    }
  }
  return { width, rows, hidden };
}

export function sayJump(jump: Pick<Jump, "taken" | "executed">, to: string): string {
  const condition = jump.executed === null ? "" : ` of ${grouped(jump.executed)} times`;
  return `jumps ${grouped(jump.taken)}${condition} to ${to}`;
}

/** The lanes of one row. */
export function LaneCell({ lanes, row, height }: { lanes: Lanes; row: number; height: number }) {
  const width = lanes.width * LANE_PIXELS + 6;
  const middle = height / 2;
  return (
    <td class="lanes" aria-hidden="true">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {(lanes.rows.get(row) ?? []).map(({ jump, lane }, index) => (
          <path
            key={index}
            class={jump.executed === null ? "jump" : "jump conditional"}
            d={lanePath(jump, row, width - 6 - (lane + 0.5) * LANE_PIXELS, width, middle, height)}
          />
        ))}
      </svg>
    </td>
  );
}

function lanePath(jump: Jump, row: number, x: number, right: number, middle: number, height: number): string {
  const [top, bottom] = [Math.min(jump.from, jump.to), Math.max(jump.from, jump.to)];
  if (row > top && row < bottom) return `M${x} 0V${height}`;
  const edge = row === top ? height : 0;
  // A jump to its own row is a hook.
  const line =
    top === bottom
      ? `M${right} ${middle - 4}H${x}V${middle}H${right - 1}`
      : `M${x} ${edge}V${middle}H${right - 1}`;
  const isEnd = row === jump.to;
  return isEnd
    ? `${line}M${right - 5} ${middle - 3}L${right - 1} ${middle}L${right - 5} ${middle + 3}`
    : line;
}
