import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { overlay } from "../state";

/** A dialog that keeps the focus, and gives it back. */
export function Dialog({ label, children }: { label: string; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  // Before the browser paints: the keys that follow the one that opened it are already meant for it.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    ref.current?.showModal();
    // The focus may go to a button at the end; what it is about is at the start.
    ref.current?.scrollTo(0, 0);
    return () => before?.focus();
  }, []);
  const close = () => {
    overlay.value = "";
  };
  return (
    <dialog
      ref={ref}
      aria-label={label}
      onClose={close}
      onClick={(e) => {
        if (e.target === ref.current) close();
      }}
    >
      <div class="sheet">{children}</div>
    </dialog>
  );
}
