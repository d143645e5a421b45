// Tables in regions that scroll, and those of which only the rows in sight are in the document.
import type { ComponentChildren, RefObject } from "preact";
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

/** A region that scrolls, with a table in it. */
export function Region({
  label,
  rows,
  onKeyDown,
  children,
}: {
  label: string;
  /** The window of rows in sight, if not all rows are in the document. */
  rows?: { box: RefObject<HTMLDivElement | null>; onScroll: () => void };
  onKeyDown?: (e: KeyboardEvent) => void;
  children: ComponentChildren;
}) {
  return (
    <div
      class="scroll"
      ref={rows?.box}
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={rows?.onScroll}
      onKeyDown={onKeyDown}
    >
      {children}
    </div>
  );
}

/** The heading of a column of numbers. */
export function NumberHead({ children }: { children: ComponentChildren }) {
  return (
    <th scope="col" class="num">
      {children}
    </th>
  );
}

/** The headings of a table: columns of numbers, then columns of text. */
export function Heads({ numbers, texts }: { numbers: string[]; texts: string[] }) {
  return (
    <thead>
      <tr>
        {numbers.map((name, index) => (
          <NumberHead key={index}>{name}</NumberHead>
        ))}
        {texts.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
