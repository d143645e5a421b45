// The total of a search in a picture.
import { grouped, percentOf } from "../format";
import { place } from "../place";
import { eventName, whole } from "../state";
import { useAnswer } from "./answer";

/** What the functions that match cost together: the outermost frames only, since frames within them are part of their cost. */
export function Matched({ from, inverted }: { from: number | null; inverted: boolean }) {
  const { answer, error } = useAnswer({ kind: "matches", from, inverted, pattern: place.value.filter });
  if (error) return <>{error}</>;
  if (!answer) return <>…</>;
  const total = answer.matched[eventName.value];
  return (
    <>
      {grouped(answer.functions)} {answer.functions === 1 ? "function" : "functions"},{" "}
      {answer.is_lower_bound ? "at least " : ""}
      {answer.is_guessed ? "~" : ""}
      {grouped(total)} ({percentOf(total, whole.value)})
    </>
  );
}
