import { useLayoutEffect, useRef } from "preact/hooks";

const STEP_PIXELS = 12;
const MAX_STEPS = 40;

/** The indent of a level, with guides. A deeper level says its depth. */
export function Indent({ depth }: { depth: number }) {
  const ref = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (ref.current) ref.current.style.width = `${Math.min(depth, MAX_STEPS) * STEP_PIXELS}px`;
  }, [depth]);
  return (
    <>
      <span class="indent" aria-hidden="true" ref={ref} />
      {depth > MAX_STEPS ? <span class="at">level {depth} </span> : null}
    </>
  );
}
