import { visible } from "../format";
import { searchPattern } from "./frames";

const CONTEXT = 12;

/** Names up to this length are hardly ever cut. */
const SHORT_NAME = 40;

/** A text in which the part is marked that a filter matches. */
export function WithMark({ text, filter }: { text: string; filter: string }) {
  const found = filter === "" ? null : searchPattern(filter).pattern?.exec(text);
  if (!found || found[0] === "") return <>{text}</>;
  return (
    <>
      {text.slice(0, found.index)}
      <mark>{found[0]}</mark>
      {text.slice(found.index + found[0].length)}
    </>
  );
}

/** The part of a long name that a filter matches, since the name itself may be cut before it. */
export function Marked({ name, filter }: { name: string; filter: string }) {
  if (name.length <= SHORT_NAME) return null;
  const { pattern } = searchPattern(filter);
  const found = pattern?.exec(name);
  if (!found || found[0] === "" || found[0].length > 80) return null;
  const from = Math.max(0, found.index - CONTEXT);
  const after = found.index + found[0].length;
  return (
    <span class="at marked" aria-hidden="true">
      {from > 0 ? "…" : ""}
      {visible(name.slice(from, found.index))}
      <mark>{visible(found[0])}</mark>
      {visible(name.slice(after, after + CONTEXT))}
      {after + CONTEXT < name.length ? "…" : ""}
    </span>
  );
}
