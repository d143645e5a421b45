// Shorter forms of the names of functions. What a function is called itself goes last: names of templates differ after hundreds of
// characters, and their beginnings are the same.
import { visible } from "./format";

/** The forms of a name are at most this many: some have hundreds of outer parts. */
const MAX_FORMS = 12;

// What looks like a bracket and is none: an operator's own characters, arrows, and the receivers of Go.
const NO_BRACKETS =
  /operator *(?:\(\)|<=>|<<=?|>>=?|<=|>=|->\*?|<(?=[ (<]|$)|>(?=[ (<]|$))|->|(?<=\.)\(\*?\w+\)/g;
const PRIVATE: Record<string, string> = { "(": "\ue000", ")": "\ue001", "<": "\ue002", ">": "\ue003" };
const PUBLIC: Record<string, string> = Object.fromEntries(Object.entries(PRIVATE).map(([a, b]) => [b, a]));

function hideNoBrackets(name: string): string {
  return name.replace(NO_BRACKETS, (found) => found.replace(/[()<>]/g, (c) => PRIVATE[c]!));
}

function showAgain(name: string): string {
  return name.replace(/[\ue000-\ue003]/g, (c) => PUBLIC[c]!);
}

const MAX_KNOWN = 2000;
const known = new Map<string, string[]>();

/** Shorter and shorter forms of a name: arguments out, generics out, outer paths out. */
export function shorter(name: string): string[] {
  const before = known.get(name);
  if (before) return before;
  // Names of a page are asked for again and again.
  if (known.size >= MAX_KNOWN) known.clear();
  const forms = shorten(name);
  known.set(name, forms);
  return forms;
}

function shorten(name: string): string[] {
  // A place for the eye and the pointer.
  if (name === "") return ["(no name)"];
  const forms = [hideNoBrackets(visible(name))];
  const add = (form: string) => {
    if (form !== forms.at(-1) && forms.length < MAX_FORMS) forms.push(form);
    return form;
  };
  const generics = fold(add(fold(forms[0]!, "(", ")")), "<", ">");
  let rest = add(add(generics).replace(/^<.*>(?=::)/, (type) => type.replace(/[\w$]+::/g, "")));
  for (let cut = outer(rest); cut > 0 && forms.length < MAX_FORMS; cut = outer(rest)) {
    // The class says more about a method than its brackets do.
    if (outer(rest.slice(cut)) === 0) rest = add(withoutArguments(rest));
    rest = add(rest.slice(cut));
  }
  return forms.map(showAgain);
}

function withoutArguments(name: string): string {
  return name.replace(/(?<!operator *)\((?:\.\.)?\)(?: const)?(?: &&?)?$/, "");
}

/** A name for narrow columns: the first of its shorter forms that has at most this many characters, cut if none has. */
export function fitted(name: string, characters: number): string {
  const forms = shorter(name);
  const fitting = forms.find((form) => form.length <= characters);
  if (fitting !== undefined) return fitting;
  const last = forms.at(-1)!;
  return characters < 4 ? "" : `${last.slice(0, characters - 1)}…`;
}

/**
 * A name among others of a table. If another one has the same shorter form, it keeps its generic arguments, as many of them as fit:
 * two rows must not read the same.
 */
export function distinct(name: string, characters: number, others: readonly string[]): string {
  const fitting = fitted(name, characters);
  if (!others.some((other) => other !== name && fitted(other, characters) === fitting)) return fitting;
  let generic = withoutArguments(fold(hideNoBrackets(visible(name)), "(", ")"));
  for (let cut = outer(generic); cut > 0; cut = outer(generic)) generic = generic.slice(cut);
  generic = showAgain(generic);
  if (generic.length <= characters) return generic;
  const own = shorter(name).at(-1)!;
  const head = generic.slice(0, Math.max(0, characters - own.length - 1));
  return head === "" || own.length >= generic.length ? fitting : `${head}…${own}`;
}

/**
 * The length of the outermost path: a namespace, a class, a directory, the type of a Rust method, a C++ result type. The suffix
 * of a clone, as in `read.part.0`, is none.
 */
function outer(name: string): number {
  const close = /^[<(]/.test(name) ? closing(name) : -1;
  if (close > 0) return name.startsWith("::", close + 1) ? close + 3 : 0;
  const match =
    /^(?:[^(<\s]|<\.\.>)*?(?:::|->|\.(?=[A-Za-z_])(?!(?:part|constprop|isra|cold|lto_priv|llvm|clone|localalias)\b)|\/)/.exec(
      name,
    );
  if (match) return match[0].length;
  // `int max<..>(..)`: the result of a template, and what is behind it has a path or brackets.
  const result = /^[\w$:<>.*&]+ (?!operator\b|const\b|\[)(?=[\w$~:]+[<(:])/.exec(name);
  return result && !/^operator\b/.test(name) ? result[0].length : 0;
}

/** The place of the bracket that closes the first one; -1 if none does. */
function closing(name: string): number {
  const close = name[0] === "<" ? ">" : ")";
  let depth = 0;
  for (let at = 0; at < name.length; at++) {
    if (name[at] === name[0]) depth++;
    else if (name[at] === close && --depth === 0) return at;
  }
  return -1;
}

/** Writes `..` for what is between brackets. One that the name begins with is what the name is about: it stays, folded inside. */
function fold(name: string, open: string, close: string): string {
  const end = name.startsWith(open) ? closing(name) : -1;
  if (end < 0) return folded(name, open, close);
  return open + folded(name.slice(1, end), open, close) + close + folded(name.slice(end + 1), open, close);
}

function folded(text: string, open: string, close: string): string {
  let depth = 0;
  let out = "";
  let opened = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text[at]!;
    if (c === open && depth++ === 0) opened = at;
    else if (c === close && depth > 0 && --depth === 0)
      out += at === opened + 1 ? open + close : `${open}..${close}`;
    else if (depth === 0) out += c;
  }
  // Brackets that do not match mean something else.
  return depth === 0 ? out : text;
}
