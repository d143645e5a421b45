// The choice of what a call graph has, of a profile or of a comparison.
import type { Group } from "../answers";
import { grouped } from "../format";
import { go, place, type Place } from "../place";
import { Empty } from "../parts/answer";

const CLUSTERS: [Group, string][] = [
  ["function", "none"],
  ["object", "object"],
  ["file", "file"],
  ["directory", "directory"],
  ["class", "class"],
  ["crate", "crate"],
  ["package", "package"],
];

function NumberChoice({
  label,
  field,
  values,
}: {
  label: string;
  field: keyof Place;
  values: [string, string][];
}) {
  return (
    <label>
      {label}{" "}
      <select
        value={String(place.value[field])}
        onChange={(e) => go({ [field]: e.currentTarget.value } as Partial<Place>)}
      >
        {values.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

const DEPTHS: [string, string][] = [
  ["0", "none"],
  ["1", "1"],
  ["2", "2"],
  ["4", "4"],
  ["6", "6"],
  ["12", "12"],
  ["100", "all"],
];
const SHARES: [string, string][] = [
  ["0", "all"],
  ["1", "0.1%"],
  ["5", "0.5%"],
  ["10", "1%"],
  ["20", "2%"],
  ["50", "5%"],
  ["100", "10%"],
];

function wholeNumber(text: string, fallback: number): number {
  const value = Number(text);
  return Number.isInteger(value) && value >= 0 ? value : fallback;
}

/** The limits of the call graph, as questions have them. */
export function limitsOf({ nodes, callerDepth, calleeDepth, minShare, cluster }: Place) {
  return {
    callers: wholeNumber(callerDepth, 2),
    callees: wholeNumber(calleeDepth, 6),
    nodes: Math.min(500, Math.max(1, wholeNumber(nodes, 40))),
    min_share: Math.min(1000, wholeNumber(minShare, 10)),
    cluster,
  };
}

/** In place of a call graph, for a profile without calls. */
export function NoCalls() {
  return (
    <Empty title="No calls in this profile">
      Record with <code>gristmill record</code> or <code>valgrind --tool=callgrind</code>: Cachegrind, for
      one, does not record calls.
    </Empty>
  );
}

/** The choice of what a call graph has. */
export function GraphTools({ shown, all }: { shown: number | undefined; all: number | undefined }) {
  const { around, nodes } = place.value;
  return (
    <>
      <label>
        <input type="checkbox" checked={around} onChange={() => go({ around: !around })} /> around the
        selection
      </label>
      <NumberChoice label="Callers" field="callerDepth" values={DEPTHS} />
      <NumberChoice label="Callees" field="calleeDepth" values={DEPTHS} />
      <NumberChoice label="At least" field="minShare" values={SHARES} />
      <NumberChoice label="Boxes around" field="cluster" values={CLUSTERS} />
      <label>
        Functions{" "}
        <input
          type="range"
          min={10}
          max={200}
          step={10}
          value={nodes}
          onChange={(e) => go({ nodes: e.currentTarget.value }, true)}
        />
      </label>
      {shown !== undefined ? (
        <span class="dim">
          {grouped(shown)} of {grouped(all)}
        </span>
      ) : null}
    </>
  );
}
