import { visible } from "../format";
import { searchPattern } from "./frames";

const CONTEXT = 12;

/** The part of a long name that a filter matches, if the name itself may be cut before it. */
export function Marked({ name, filter }: { name: string; filter: string }) {
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
