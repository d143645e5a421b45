// The rows of a picture of a comparison as a table.
import type { Change } from "../answers";
import { grouped } from "../format";
import type { Row } from "../state";
import { ChangeNumber, Name } from "./cost";
import { Heads, Region } from "./rows";

const MAX_ROWS = 500;

export interface ChangedItem {
  row: Row | undefined;
  /** The name of what is no function. */
  name: string;
  change: Change | null;
  isEstimate: boolean;
  level: number;
}

export function ChangeItems({ label, items }: { label: string; items: ChangedItem[] }) {
  return (
    <Region label={label}>
      <table>
        <Heads numbers={["Before", "After", "Change of inclusive cost", "Level"]} texts={["Function"]} />
        <tbody>
          {items.slice(0, MAX_ROWS).map(({ row, name, change, isEstimate, level }, index) => (
            <tr key={index}>
              <td class="num">{grouped(change?.base)}</td>
              <td class="num">{grouped(change?.new)}</td>
              <td class="num">
                {isEstimate ? <span title="an estimate">~</span> : null}
                <ChangeNumber change={change} />
              </td>
              <td class="num">{level}</td>
              <td>{row ? <Name row={row} /> : name}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {items.length > MAX_ROWS ? (
        <p class="hidden">
          {grouped(items.length - MAX_ROWS)} more are in the picture and in the saved table.
        </p>
      ) : null}
    </Region>
  );
}
