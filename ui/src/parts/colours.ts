// Colours of pictures: tokens of the style sheet, and the ink that can be read on them.
import { isDark } from "../state";

const GROUP_COUNT = 7;

/** `true` for the name of a group that is known. */
export function isGroup(key: string): boolean {
  return key !== "" && key !== "???";
}

/** The groups of a picture, each with a colour. */
export class Groups {
  /** The name of each colour; "" for none. */
  readonly names: string[];
  private ranks: Map<string, number>;

  /** The first groups of the profile have their colours in all pictures, other groups what these leave. */
  constructor(keys: Iterable<string>, first: string[]) {
    const known = new Set([...keys].filter(isGroup));
    const colours = first.slice(0, GROUP_COUNT);
    const others = [...known].filter((key) => !colours.includes(key));
    this.names = Array.from({ length: GROUP_COUNT }, (_, index) => {
      const name = colours[index] ?? "";
      return known.has(name) ? name : (others.shift() ?? "");
    });
    this.ranks = new Map(this.names.map((name, index) => [name, index]));
    // What has no group is one of all others, even if there are fewer groups than colours.
    this.ranks.delete("");
  }

  /** The token of a group. The last one, grey, is that of all others. */
  token(key: string): string {
    return `--g${this.ranks.get(key) ?? GROUP_COUNT}`;
  }
}

/** The steps of heat for shares of a whole, and for shares of the hottest line. */
export const HEAT_STEPS = [0.003, 0.01, 0.03, 0.1, 0.3];
export const LINE_STEPS = [0.02, 0.1, 0.3, 0.6, 0.9];

/** The token of a share from 0 to 1: the scale of heat. */
export function heatToken(fraction: number, steps: number[] = HEAT_STEPS): string {
  return `--h${steps.filter((step) => fraction >= step).length}`;
}

/** The steps of the scale of changes, in shares of the total. */
export const CHANGE_STEPS = [0.001, 0.01, 0.1];
/** The token of a change, as a share of the total: blue is less, orange is more. */
export function changeToken(fraction: number): string {
  const steps = CHANGE_STEPS.filter((step) => Math.abs(fraction) >= step).length;
  return `--d${3 + Math.sign(fraction) * steps}`;
}

/** The value of a token in the current theme. */
export function css(token: string): string {
  void isDark.value;
  return getComputedStyle(document.documentElement).getPropertyValue(token).trim();
}

const LIGHT_INK = "#ffffff";
const DARK_INK = "#1a1d21";

function luminance(hex: string): number {
  const channels = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
  const [r, g, b] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

/** The ink of more contrast on a ground, `#rrggbb`. */
export function inkOn(hex: string): string {
  const ground = luminance(hex);
  const onDark = 1.05 / (ground + 0.05);
  const onLight = (ground + 0.05) / (luminance(DARK_INK) + 0.05);
  return onDark > onLight ? LIGHT_INK : DARK_INK;
}

/** Values of tokens, each read once for a drawing. */
export function palette(): (token: string) => string {
  const known = new Map<string, string>();
  return (token) => {
    let value = known.get(token);
    if (value === undefined) {
      value = css(token);
      // Short hexadecimal forms come from the minifier.
      if (/^#[0-9a-f]{3}$/i.test(value)) value = `#${[...value.slice(1)].map((c) => c + c).join("")}`;
      known.set(token, value);
    }
    return value;
  };
}
