// Controls above the views.
import { go, place } from "../place";

/** The box for names to look for. Enter and Shift-Enter go through the matches, where a view does that. */
export function SearchBox({ onStep }: { onStep?: (by: 1 | -1) => void }) {
  return (
    <input
      class="filter"
      type="search"
      placeholder="Search names ( / )"
      aria-label="Search names"
      value={place.value.filter}
      onInput={(e) => go({ filter: e.currentTarget.value }, true)}
      onKeyDown={(e) => {
        if (e.key === "Enter") onStep?.(e.shiftKey ? -1 : 1);
      }}
    />
  );
}

/** Shows a picture as a table, and back. */
export function TableSwitch() {
  const { asTable } = place.value;
  return (
    <button aria-pressed={asTable} title="Picture as a table (t)" onClick={() => go({ asTable: !asTable })}>
      As table
    </button>
  );
}
