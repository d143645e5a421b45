import { NumberHead } from "./rows";
import { useState } from "preact/hooks";
import { grouped, visible } from "../format";
import { go, lines, place } from "../place";
import { ask, overlay, scope, summary } from "../state";
import { Dialog } from "./dialog";

/** Defines an event type. The library judges the formula before the page uses it. */
export function Formula() {
  const [name, setName] = useState("");
  const [formula, setFormula] = useState("");
  const [problem, setProblem] = useState("");
  const types = summary.value?.event_types ?? [];

  const define = async (e: Event) => {
    e.preventDefault();
    const line = `${name.trim()} = ${formula.trim()}`;
    const derive = [...lines(place.value.derive), line];
    try {
      const wanted = { ...scope.value, derive, events: [name.trim()] };
      await ask({ kind: "summary" }, new AbortController().signal, wanted);
    } catch (error) {
      setProblem((error as Error).message);
      return;
    }
    overlay.value = "";
    go({ derive: derive.join("\n"), event: name.trim() });
  };
  return (
    <Dialog label="New event type">
      <h2>New event type</h2>
      <form onSubmit={define}>
        <p class="form">
          <label>
            Name
            <input
              required
              pattern="[A-Za-z_][A-Za-z0-9_]*"
              placeholder="Cost"
              autofocus
              value={name}
              onInput={(e) => setName(e.currentTarget.value)}
            />
          </label>
          <label>
            Formula
            <input
              required
              size={36}
              placeholder="Ir + 10 Bm + 100 LLm"
              value={formula}
              onInput={(e) => setFormula(e.currentTarget.value)}
            />
          </label>
          <button type="submit">Define</button>
        </p>
        {problem ? (
          <p class="warn" role="alert">
            {visible(problem)}
          </p>
        ) : null}
      </form>
      <table>
        <thead>
          <tr>
            <th scope="col">Event type</th>
            <th scope="col">Meaning</th>
            <NumberHead>Total</NumberHead>
          </tr>
        </thead>
        <tbody>
          {types.map((type) => (
            <tr key={type.name}>
              <td class="fn">
                <button
                  class="plain"
                  title="Add it to the formula"
                  onClick={() => setFormula(`${formula}${formula ? " + " : ""}${type.name}`)}
                >
                  {visible(type.name)}
                </button>
              </td>
              <td>
                {visible(type.long_name ?? "")}{" "}
                {type.formula ? <span class="dim">= {visible(type.formula)}</span> : null}
              </td>
              <td class="num">{grouped(type.total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">A formula is a sum of event types with whole factors.</p>
    </Dialog>
  );
}
