// Copying and saving: tables as text, pictures as files.
import { useRef } from "preact/hooks";
import { copy } from "../actions";
import { type Cell, cellText, csvCell, grouped, jsonOf } from "../format";
import { announce } from "../state";

export function save(content: Blob, name: string, note = ""): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  announce.value = `saved ${name}${note}`;
}

export function saveText(text: string, type: string, name: string, note = ""): void {
  save(new Blob([text], { type }), name, note);
}

export type { Cell };

function tabbed(rows: Cell[][]): string {
  return rows.map((row) => row.map(cellText).join("\t")).join("\n");
}

/** The count of rows below the heads, to be said. */
function counted(rows: Cell[][]): string {
  const count = rows.length - 1;
  return `, ${grouped(count)} ${count === 1 ? "row" : "rows"}`;
}

/** Makes something of what is there, at once or later. */
export function mapped<T, U>(made: T | Promise<T>, make: (value: T) => U): U | Promise<U> {
  return made instanceof Promise ? made.then(make) : make(made);
}

/** Uses what is there at once, or later: a browser may copy only what is there at once. */
function use<T>(made: T | Promise<T>, run: (value: T) => void): void {
  if (!(made instanceof Promise)) return run(made);
  announce.value = "asking for all rows";
  made.then(run).catch((error: Error) => {
    announce.value = `not all rows could be read: ${error.message}`;
  });
}

/** Draws a picture into a PNG, at twice its size. */
export function savePng(svg: string, width: number, height: number, name: string): void {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    // Browsers refuse canvases beyond this side length.
    const scale = Math.min(2, 16_000 / Math.max(width, height));
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    const pen = canvas.getContext("2d")!;
    pen.scale(scale, scale);
    pen.drawImage(image, 0, 0, width, height);
    canvas.toBlob((blob) => {
      if (blob) save(blob, `${name}.png`);
    }, "image/png");
  };
  image.onerror = () => {
    announce.value = "the browser cannot draw the picture";
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

export interface Drawing {
  svg: string;
  width: number;
  height: number;
}

export interface SaveOptions {
  /** The name of files, without extension. */
  name: string;
  /** The rows of the table, after its heads. They are made when a button is pressed. */
  rows: () => Cell[][] | Promise<Cell[][]>;
  /** The answer, or how to get all of it. */
  json: unknown;
  draw?: () => Drawing;
  dot?: () => string;
}

/** A menu that copies a table, or saves it or its picture. */
export function Export({ name, rows, json, draw, dot }: SaveOptions) {
  const menu = useRef<HTMLDetailsElement>(null);
  const csv = (made: Cell[][]) => made.map((row) => row.map(csvCell).join(",")).join("\r\n");
  const item = (text: string, run: () => void, action?: string) => (
    <button
      data-action={action}
      onClick={() => {
        if (menu.current) menu.current.open = false;
        run();
      }}
    >
      {text}
    </button>
  );
  return (
    <details
      class="export"
      ref={menu}
      onFocusOut={(e) => {
        const { currentTarget, relatedTarget } = e;
        if (!currentTarget.contains(relatedTarget as Node | null)) currentTarget.open = false;
      }}
      onKeyDown={(e) => {
        if (e.key === "Escape") e.currentTarget.open = false;
      }}
    >
      <summary>Save</summary>
      <div class="export-list">
        {item(
          "Copy the table",
          () => use(rows(), (made) => copy(tabbed(made), `the table${counted(made)}`)),
          "copy",
        )}
        {item("Table as CSV", () =>
          use(rows(), (made) => saveText(csv(made), "text/csv", `${name}.csv`, counted(made))),
        )}
        {item("Answer as JSON", () =>
          use(typeof json === "function" ? json() : json, (answer: unknown) =>
            saveText(jsonOf(answer), "application/json", `${name}.json`),
          ),
        )}
        {draw ? item("Picture as SVG", () => saveText(draw().svg, "image/svg+xml", `${name}.svg`)) : null}
        {draw
          ? item("Picture as PNG", () => {
              const { svg, width, height } = draw();
              savePng(svg, width, height, name);
            })
          : null}
        {dot ? item("Graph as DOT", () => saveText(dot(), "text/vnd.graphviz", `${name}.dot`)) : null}
      </div>
    </details>
  );
}

/** Text for an XML document: markup escaped, characters that XML forbids made visible. */
export function xml(text: string): string {
  return text
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}
