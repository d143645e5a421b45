// The table of source lines or instructions, with lanes of jumps and the heat of the whole listing beside it.
import type { ComponentChildren } from "preact";
import { grouped } from "../format";
import { HeatStrip } from "./heat-strip";
import type { Lanes } from "./lanes";
import { Pad, Region, type useRows } from "./rows";

export function CodeTable<R>({
  label,
  kind,
  rows,
  window,
  lanes,
  heads,
  text,
  columns,
  shareOf,
  row,
}: {
  label: string;
  /** The class of the table. */
  kind: string;
  rows: R[];
  window: ReturnType<typeof useRows>;
  lanes: Lanes;
  /** The headings before the lanes. */
  heads: ComponentChildren;
  /** The heading of the text. */
  text: string;
  columns: number;
  /** The heat of a row, 0 to 1. */
  shareOf: (row: R) => number;
  row: (row: R, index: number) => ComponentChildren;
}) {
  return (
    <>
      <div class="with-strip">
        <Region label={label} rows={window}>
          <table class={kind} aria-rowcount={rows.length + 1}>
            <thead>
              <tr>
                {heads}
                <th scope="col" class="lanes">
                  <span class="sr">Jumps</span>
                </th>
                <th scope="col">{text}</th>
              </tr>
            </thead>
            <tbody>
              <Pad at={window.above} columns={columns} />
              {rows.slice(window.from, window.to).map((item, index) => row(item, window.from + index))}
              <Pad at={window.below} columns={columns} />
            </tbody>
          </table>
        </Region>
        <HeatStrip shares={rows.map(shareOf)} onPick={(at) => window.show(at, "center")} />
      </div>
      {lanes.hidden > 0 ? (
        <p class="hidden">
          {grouped(lanes.hidden)} more {lanes.hidden === 1 ? "jump crosses" : "jumps cross"} too many others
          to be drawn.
        </p>
      ) : null}
    </>
  );
}
