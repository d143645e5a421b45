// What the flame graphs of a profile and of a comparison have in common: directions, zoom, and the way back.
import { useEffect, useState } from "preact/hooks";
import { go, lines, place } from "../place";
import { startAtProgram } from "../state";
import { moved, WHOLE, zoomed, type Window } from "../parts/frames";

/** The frame that fills the width, which the address has, and the window on it, which it does not. */
export function useFlameZoom() {
  const { inverted, order, rootName } = place.value;
  const [window, setWindow] = useState<Window>(WHOLE);
  const zoom = lines(place.value.zoom);
  useEffect(() => setWindow(WHOLE), [place.value.zoom, rootName, inverted, order]);
  const setZoom = (path: string[]) => go({ zoom: path.join("\n") });
  return {
    window,
    setWindow,
    zoom,
    setZoom,
    back: () => {
      if (window !== WHOLE) setWindow(WHOLE);
      else if (zoom.length > 0) setZoom(zoom.slice(0, -1));
      else if (rootName !== "") startAtProgram();
    },
    home: () => {
      setWindow(WHOLE);
      if (zoom.length > 0) setZoom([]);
    },
    onZoom: (factor: number, at: number) => setWindow(zoomed(window, factor, at)),
    onPan: (by: number) => setWindow(moved(window, by)),
  };
}

/** The buttons that undo a zoom. */
export function WayBack({ of: { window, zoom, back, home } }: { of: ReturnType<typeof useFlameZoom> }) {
  if (zoom.length === 0 && window === WHOLE) return null;
  return (
    <>
      <button onClick={back}>One level up</button>
      <button data-action="fit" onClick={home}>
        Whole graph
      </button>
    </>
  );
}

/** The choice of direction and order. */
export function Directions() {
  const { inverted, order, upward } = place.value;
  return (
    <>
      <label>
        <input type="checkbox" checked={inverted} onChange={() => go({ inverted: !inverted, zoom: "" })} />{" "}
        inverted
      </label>
      <label>
        <input type="checkbox" checked={upward} onChange={() => go({ upward: !upward })} /> root below
      </label>
      <label>
        Order{" "}
        <select value={order} onChange={(e) => go({ order: e.currentTarget.value as "cost" | "name" })}>
          <option value="cost">cost</option>
          <option value="name">name</option>
        </select>
      </label>
    </>
  );
}
