// Copying and saving: tables as text, pictures as files.
import { copy } from "../actions";
import { announce } from "../state";

export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  announce.value = `saved ${name}`;
}

export function saveText(text: string, type: string, name: string): void {
  save(new Blob([text], { type }), name);
}

export type Cell = string | number | null | undefined;

function tabbed(rows: Cell[][]): string {
  return rows
    .map((row) => row.map((cell) => String(cell ?? "").replace(/[\t\r\n]/g, " ")).join("\t"))
    .join("\n");
}

/** A cell of CSV. A leading =, +, -, @ of a name would be a formula in a spreadsheet: an apostrophe stops that. */
function csvCell(value: Cell): string {
  let text = String(value ?? "");
  if (typeof value === "string" && /^[=+@\t\r-]/.test(text) && !/^-?[\d.]+$/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Copies a table, or saves it. Rows are made when a button is pressed. */
export function Export({ name, rows, json }: { name: string; rows: () => Cell[][]; json: unknown }) {
  return (
    <span class="export" role="group" aria-label="Copy and save the table">
      <button
        data-action="copy"
        title="Copy the rows, with tabs between (y)"
        onClick={() => copy(tabbed(rows()), "the table")}
      >
        Copy
      </button>
      <button
        title="Save the rows as CSV"
        onClick={() =>
          saveText(
            rows()
              .map((row) => row.map(csvCell).join(","))
              .join("\r\n"),
            "text/csv",
            `${name}.csv`,
          )
        }
      >
        CSV
      </button>
      <button
        title="Save the answer as JSON"
        onClick={() => saveText(JSON.stringify(json, null, 1), "application/json", `${name}.json`)}
      >
        JSON
      </button>
    </span>
  );
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

/** Buttons that save a picture. */
export function SavePicture({ name, draw, dot }: { name: string; draw: () => Drawing; dot?: () => string }) {
  return (
    <span class="export" role="group" aria-label="Save the picture">
      <button onClick={() => saveText(draw().svg, "image/svg+xml", `${name}.svg`)}>SVG</button>
      <button
        onClick={() => {
          const { svg, width, height } = draw();
          savePng(svg, width, height, name);
        }}
      >
        PNG
      </button>
      {dot ? <button onClick={() => saveText(dot(), "text/vnd.graphviz", `${name}.dot`)}>DOT</button> : null}
    </span>
  );
}

/** Text for an XML document: markup escaped, characters that XML forbids made visible. */
export function xml(text: string): string {
  return text
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}
