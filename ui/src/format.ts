import type { Calls, Exact } from "./answers";

const SPACE = "\u2009";

/** A number with its digits in groups, exact. */
export function grouped(value: Exact | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const text = String(value);
  const negative = text.startsWith("-");
  const [whole = "", fraction] = (negative ? text.slice(1) : text).split(".");
  return (negative ? "−" : "") + whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction ? `.${fraction}` : "");
}

/** A number with an explicit sign. */
export function signed(value: Exact): string {
  return Number(value) > 0 ? `+${grouped(value)}` : grouped(value);
}

/** Three digits and a unit prefix. */
export function short(value: Exact | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const number = Number(value);
  const size = Math.abs(number);
  for (const [limit, prefix] of [
    [1e18, "E"],
    [1e15, "P"],
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e4, "k"],
  ] as const) {
    const unit = prefix === "k" ? 1e3 : limit;
    if (size >= limit) {
      const n = number / unit;
      return `${n.toFixed(Math.abs(n) >= 99.95 ? 0 : Math.abs(n) >= 9.995 ? 1 : 2)}${SPACE}${prefix}`;
    }
  }
  return grouped(value);
}

/** A share of a whole, 0 to 1. */
export function share(value: Exact | null | undefined, whole: Exact | null | undefined): number {
  const total = Number(whole ?? 0);
  return total === 0 || value === null || value === undefined ? 0 : Number(value) / total;
}

/** A share as a percentage: never 0.0 for what is not zero. */
export function percent(fraction: number): string {
  const value = fraction * 100;
  if (value === 0) return "0%";
  if (Math.abs(value) < 0.1) return value < 0 ? ">−0.1%" : "<0.1%";
  return `${value.toFixed(1).replace("-", "−")}%`;
}

export function percentOf(value: Exact | null | undefined, whole: Exact | null | undefined): string {
  return Number(whole ?? 0) === 0 ? "–" : percent(share(value, whole));
}

/** The count of calls: "≥" if some are inlined and not counted, "~" if it is an estimate. */
export function callCount(calls: Calls): string {
  return calls.calls !== null
    ? (calls.calls_guessed ? "~" : "") + grouped(calls.calls)
    : calls.recorded_calls !== undefined
      ? `≥${grouped(calls.recorded_calls)}`
      : "–";
}

/** The columns of a saved row that are estimates, by their names without event types. */
export function estimatedColumns(columns: Record<string, boolean | undefined>): string {
  return Object.keys(columns)
    .filter((column) => columns[column])
    .join(", ");
}

/** The most characters of a name that the page shows: names can have megabytes. */
const MAX_SHOWN_CHARACTERS = 1000;
const HIDDEN_CHARACTERS =
  /(?![\ufe00-\ufe0f])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028-\u202e\ufff9-\ufffb\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}]/gu;

/** A text in which characters that nobody sees, or that do something, are spelled out, as the program's tables have them. */
export function spelled(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, (c) => {
    const code = c.codePointAt(0)!;
    const hex = code.toString(16);
    const name = { 9: "t", 10: "n", 13: "r" }[code];
    return `\\${name ?? (code < 128 ? `x${hex.padStart(2, "0")}` : `u{${hex}}`)}`;
  });
}

/** A document in JSON in which these characters are escaped. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, null, 1).replace(HIDDEN_CHARACTERS, (c) =>
    c === "\n" ? c : c.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

export type Cell = string | number | null | undefined;

/**
 * The text of a cell of a table, as the program writes it into CSV. A leading =, +, -, @ of a name would be a formula in a
 * spreadsheet: an apostrophe stops that.
 */
export function cellText(value: Cell): string {
  const text = String(value ?? "");
  const isFormula =
    typeof value === "string" && /^[=+@\t\r＝＋－＠-]/.test(text) && !/^[+-][\d.,%]+$/.test(text);
  // Where a decimal is written with a comma, programs begin a new cell at a semicolon.
  return (isFormula ? "'" : "") + spelled(text).replace(/;(?=[=+@-])/g, ";'");
}

export function csvCell(value: Cell): string {
  const text = cellText(value);
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A name in which hidden characters are visible, and which is cut if it is very long: names come from files. */
export function visible(name: string): string {
  const shown = spelled(name);
  if (shown.length <= MAX_SHOWN_CHARACTERS) return shown;
  return `${shown.slice(0, MAX_SHOWN_CHARACTERS)}… (${grouped(name.length)} characters)`;
}

/** The last component of a path; "" if it is unknown. */
export function base(path: string): string {
  return path === "" || path === "???"
    ? ""
    : visible(path.slice(path.replace(/[/\\]+$/, "").search(/[^/\\]*$/)));
}

export function bytes(size: number): string {
  return size < 1000
    ? `${size} bytes`
    : size < 1e6
      ? `${(size / 1e3).toFixed(0)} kB`
      : `${(size / 1e6).toFixed(1)} MB`;
}

/** The sum of exact numbers, exact if all are whole. */
export function sum(values: Iterable<Exact | null | undefined>): Exact {
  const list = [...values].filter((value) => value !== null && value !== undefined);
  if (!list.every((value) => /^-?\d+$/.test(String(value))))
    return list.reduce<number>((a, b) => a + Number(b), 0);
  const total = list.reduce<bigint>((a, b) => a + BigInt(b), 0n);
  return total >= -(2n ** 53n) && total <= 2n ** 53n ? Number(total) : String(total);
}

/** A number with the other sign. */
export function negated(value: Exact): Exact {
  if (typeof value === "number") return value === 0 ? 0 : -value;
  return value.startsWith("-") ? value.slice(1) : `-${value}`;
}

/** A number divided by a count, with three significant digits below 100. */
export function perCall(cost: Exact | null | undefined, count: Exact | null | undefined): string {
  if (cost === null || cost === undefined || Number(count ?? 0) === 0) return "–";
  const value = Number(cost) / Number(count);
  if (value > 2 ** 53 && /^\d+ \d+$/.test(`${cost} ${count}`))
    return grouped(String((BigInt(cost) + BigInt(count!) / 2n) / BigInt(count!)));
  return value >= 100 || Number.isInteger(value) ? grouped(Math.round(value)) : value.toPrecision(3);
}

/** A pattern that only this name matches. Without a capital letter it ignores case, unless it says that case matters. */
export function patternOf(name: string, caseMatters: boolean): string {
  const flags = caseMatters && !/\p{Lu}/u.test(name) ? "(?-i)" : "";
  return `${flags}^${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
}

/**
 * `true` for a pattern with an open group, class or escape, as there is while somebody types. The library has the last word: this
 * only saves a question that it is sure to refuse.
 */
export function isUnfinished(pattern: string): boolean {
  // Comments may have brackets.
  if (/\(\?[a-z]*x/.test(pattern)) return false;
  let groups = 0;
  let classes = 0;
  for (let at = 0; at < pattern.length; at++) {
    const c = pattern[at];
    if (c === "\\") {
      at += 1;
      if (at === pattern.length) return true;
    } else if (c === "[") {
      classes += 1;
      // A bracket that a class begins with is one of its characters.
      at += /^\^?\]?/.exec(pattern.slice(at + 1))![0].length;
    } else if (c === "]" && classes > 0) classes -= 1;
    else if (c === "(" && classes === 0) groups += 1;
    else if (c === ")" && classes === 0) groups -= 1;
  }
  return groups > 0 || classes > 0;
}

/** `true` for text with characters of patterns, which is a pattern as far as the page can know. */
export function isPattern(text: string): boolean {
  if (!/[\\^$.*+?()[\]{}|]/.test(text) || isUnfinished(text)) return false;
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}
