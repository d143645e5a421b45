// The menu of a function: right click, or the menu key.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ACTIONS, MENU } from "../actions";
import { visible } from "../format";
import { select, type Row } from "../state";

interface Opened {
  row: Row;
  x: number;
  y: number;
}
const opened = signal<Opened | null>(null);

/** Selects a function and opens its menu at the pointer. */
export function openMenu(e: MouseEvent, row: Row): void {
  // A name opens the menu, and so does its row.
  if (row.id === null || e.defaultPrevented) return;
  e.preventDefault();
  select(row);
  opened.value = { row, x: e.clientX, y: e.clientY };
}

const WIDTH = 320;
const HEIGHT = 400;

export function Menu() {
  const at = opened.value;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !at) return;
    element.style.left = `${Math.max(4, Math.min(at.x, innerWidth - WIDTH - 8))}px`;
    element.style.top = `${Math.max(4, Math.min(at.y, innerHeight - HEIGHT))}px`;
    element.querySelector("button")?.focus();
  }, [at]);
  useEffect(() => {
    if (!at) return;
    const close = (e: Event) => {
      if (!box.current?.contains(e.target as Node)) opened.value = null;
    };
    addEventListener("pointerdown", close);
    return () => removeEventListener("pointerdown", close);
  }, [at]);
  if (!at) return null;

  const actions = MENU.map((id) => ACTIONS.find((action) => action.id === id)!);
  const move = (step: number) => {
    const buttons = [...box.current!.querySelectorAll("button")];
    const index = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons[(index + step + buttons.length) % buttons.length]?.focus();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "Escape") opened.value = null;
    else if (e.key === "ArrowDown") move(1);
    else if (e.key === "ArrowUp") move(-1);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div
      class="menu"
      ref={box}
      role="menu"
      aria-label={`Actions for ${visible(at.row.name)}`}
      onKeyDown={onKeyDown}
    >
      <div class="menu-title fn">{visible(at.row.name)}</div>
      {actions.map((action) => (
        <button
          key={action.id}
          role="menuitem"
          onClick={() => {
            opened.value = null;
            action.run();
          }}
        >
          <span>
            {action.text}
            {action.note ? <small>{action.note}</small> : null}
          </span>
          {action.key ? <kbd>{action.key}</kbd> : null}
        </button>
      ))}
    </div>
  );
}
