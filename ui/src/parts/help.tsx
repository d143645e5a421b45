import { ACTIONS, isPossible, type Action } from "../actions";
import { hasSingleKeys, overlay } from "../state";
import { Dialog } from "./dialog";

/** Keys that are no actions: the browser's, and those of a focused table or picture. */
const OTHERS: [string, string][] = [
  ["Ctrl K", "Search and commands"],
  ["Alt ← →", "Back and forward"],
  ["Esc", "Close, or one level up"],
  ["Arrows", "Move within tables, trees and pictures; along the calls of the call graph"],
  ["Enter", "Zoom into the frame, go to the function"],
  ["Home", "Whole picture"],
  ["*", "Open everything below a row of the call tree"],
  ["Ctrl wheel", "Zoom of a picture at the pointer"],
  ["Drag", "Move a zoomed picture; choose parts"],
  ["Right click", "Menu of a function"],
];
const GROUPS: Action["group"][] = ["View", "Selection", "Narrow", "Numbers", "Picture", "Page"];

function Rows({ rows }: { rows: [string, string][] }) {
  return (
    <table class="keys">
      <tbody>
        {rows.map(([key, text]) => (
          <tr key={key}>
            <th scope="row">
              <kbd>{key}</kbd>
            </th>
            <td>{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** All keys, from the list of actions. */
export function Help() {
  const keyed = ACTIONS.filter(
    (action) => action.key !== undefined && isPossible({ ...action, ...always(action) }),
  );
  return (
    <Dialog label="Keys">
      <h2>Keys</h2>
      {hasSingleKeys.value ? null : (
        <p class="note">Single keys are turned off; the palette turns them on.</p>
      )}
      <div class="key-groups">
        {GROUPS.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <Rows
              rows={keyed.filter((action) => action.group === group).map((one) => [one.key!, one.text])}
            />
          </section>
        ))}
        <section>
          <h3>Everywhere</h3>
          <Rows rows={OTHERS} />
        </section>
      </div>
      <p class="hint">
        A cost with ~ and a dotted line is an estimate: the profile does not determine it. Percentages are of
        the total of the event type, unless the column says otherwise.
      </p>
      <button
        autofocus
        onClick={() => {
          overlay.value = "";
        }}
      >
        Close
      </button>
    </Dialog>
  );
}

/** Keys of the selection are listed even while nothing is selected; those of a comparison only with a base. */
function always(action: Action): Partial<Action> {
  return action.group === "Selection" || action.group === "Narrow" ? { isPossible: () => true } : {};
}
