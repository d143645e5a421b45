// The room that a name has in a table.
import { createContext } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { shorter } from "../names";

/** The names of a table: one of them must not read as another one. */
export const Names = createContext<readonly string[]>([]);

/** The most characters of a name, and the least. */
const MAX_CHARACTERS = 400;
const MIN_CHARACTERS = 12;
/** The room of no name: that of a column that was not measured yet. */
const UNMEASURED = { name: "", characters: MAX_CHARACTERS, isAlone: false };

/** What measures the names of a cell again. */
const measures = new WeakMap<Element, Set<() => void>>();
const cells = new ResizeObserver((changes) => {
  for (const { target } of changes) measures.get(target)?.forEach((measure) => measure());
});

/**
 * The number of characters of a name that its place has room for, and whether it has none beside it. They are measured before the
 * browser paints, and again when the place changes.
 */
export function useRoom(name: string) {
  const ref = useRef<HTMLElement & HTMLButtonElement>(null);
  // A new object each time: the same number is measured again, too.
  const [measured, setRoom] = useState(UNMEASURED);
  const room = measured.name === name ? measured : UNMEASURED;
  useLayoutEffect(() => {
    const place = ref.current!;
    const text = place.firstElementChild as HTMLElement;
    if (room !== UNMEASURED || place.scrollWidth <= place.clientWidth || text.textContent === "") return;
    const beside = place.scrollWidth - text.offsetWidth;
    const pixels = text.offsetWidth / text.textContent.length;
    const characters = Math.floor((place.clientWidth - beside) / pixels);
    // The function itself is more than what stands beside its name.
    const isAlone = characters < shorter(name).at(-1)!.length;
    const all = isAlone ? Math.floor(place.clientWidth / pixels) : characters;
    setRoom({ name, characters: Math.max(all, MIN_CHARACTERS), isAlone });
  }, [measured, name]);
  useLayoutEffect(() => {
    const cell = ref.current!.closest("td, header") ?? ref.current!;
    let width = cell.clientWidth;
    const measure = () => {
      if (cell.clientWidth === width) return;
      width = cell.clientWidth;
      setRoom({ ...UNMEASURED });
    };
    const all = measures.get(cell) ?? new Set();
    measures.set(cell, all.add(measure));
    cells.observe(cell);
    return () => {
      all.delete(measure);
      if (all.size === 0) cells.unobserve(cell);
    };
  }, []);
  return { ref, characters: room.characters, isAlone: room.isAlone };
}
