// Tables of which only the rows in sight are in the document.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const MARGIN_ROWS = 30;

/** The window of rows in sight, for rows of one height. */
export function useRows(count: number, rowHeight: number) {
  const box = useRef<HTMLDivElement>(null);
  const above = useRef<HTMLTableRowElement>(null);
  const below = useRef<HTMLTableRowElement>(null);
  const [first, setFirst] = useState(0);
  const [inSight, setInSight] = useState(60);
  const from = Math.max(0, Math.min(first - MARGIN_ROWS, count - 1));
  const to = Math.min(count, first + inSight + MARGIN_ROWS);

  const onScroll = () => {
    const { scrollTop, clientHeight } = box.current!;
    const row = Math.floor(scrollTop / rowHeight);
    // A step of rows, so that a short scroll draws nothing again.
    setFirst(row - (row % 10));
    setInSight(Math.ceil(clientHeight / rowHeight) + 10);
  };
  useEffect(() => {
    if (box.current) onScroll();
  }, [count]);
  useLayoutEffect(() => {
    if (above.current) above.current.style.height = `${from * rowHeight}px`;
    if (below.current) below.current.style.height = `${Math.max(0, count - to) * rowHeight}px`;
  }, [from, to, count, rowHeight]);

  /** Scrolls until a row is in sight. */
  const show = (row: number, block: "center" | "nearest" = "nearest") => {
    const element = box.current;
    if (!element || row < 0) return;
    const head = 26;
    const top = row * rowHeight;
    const { scrollTop, clientHeight } = element;
    if (block === "center") element.scrollTop = top - clientHeight / 2 + head;
    else if (top < scrollTop) element.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight - head)
      element.scrollTop = top + rowHeight - clientHeight + head;
    onScroll();
  };
  return { box, above, below, from, to, onScroll, show };
}

/** Space for the rows out of sight. */
export function Pad({ at, columns }: { at: { current: HTMLTableRowElement | null }; columns: number }) {
  return (
    <tr class="pad" ref={at} aria-hidden="true">
      <td colSpan={columns} />
    </tr>
  );
}
