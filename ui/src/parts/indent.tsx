import { useLayoutEffect, useRef } from "preact/hooks";

const STEP_PIXELS = 12;
const MAX_STEPS = 40;

/** The indent of a level, with guides. A deeper level says its depth. */
export function Indent({ depth }: { depth: number }) {
  const ref = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const width = `${Math.min(depth, MAX_STEPS) * STEP_PIXELS}px`;
    ref.current!.style.width = width;
    // The name behind it has the rest of the cell.
    ref.current!.parentElement!.style.setProperty("--indent", width);
  }, [depth]);
  return (
    <>
      <span class="indent" aria-hidden="true" ref={ref} />
      {depth > MAX_STEPS ? <span class="at">level {depth} </span> : null}
    </>
  );
}
