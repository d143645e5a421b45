import { base, percent, visible } from "../format";
import { CHANGE_STEPS, HEAT_STEPS, type Groups } from "./colours";

/** The meaning of the colours of groups. */
export function GroupLegend({ groups, by }: { groups: Groups; by: string }) {
  return (
    <p class="hint legend">
      Colours by {by}:
      {groups.names.map((name, index) =>
        name === "" ? null : (
          <span key={name} title={visible(name)}>
            <span class={`swatch s${index}`} />
            {base(name) || visible(name)}
          </span>
        ),
      )}
      <span>
        <span class="swatch s7" />
        others
      </span>
    </p>
  );
}

/** The steps of heat. */
export function HeatLegend({ of }: { of: string }) {
  const steps = ["less", ...HEAT_STEPS.map(percent)];
  return (
    <p class="hint legend">
      Colours by {of}, at least:
      {steps.map((step, index) => (
        <span key={step}>
          <span class={`swatch h${index}`} />
          {step}
        </span>
      ))}
    </p>
  );
}

/** The steps of changes, in shares of the total. */
export function ChangeLegend({ missing = "hatched: missing on one side" }: { missing?: string }) {
  const [small, middle, large] = CHANGE_STEPS.map(percent) as [string, string, string];
  const steps = [`−${large}`, `−${middle}`, `−${small}`, "0", `+${small}`, `+${middle}`, `+${large}`];
  return (
    <p class="hint legend">
      Change, in shares of the total before:
      {steps.map((step, index) => (
        <span key={step}>
          <span class={`swatch d${index}`} />
          {step}
        </span>
      ))}
      <span>{missing}</span>
    </p>
  );
}

/** The steps of a ratio of two event types, in comparison with the whole. */
export function RatioLegend({ event, second }: { event: string; second: string }) {
  const steps = ["≤0.1×", "≤0.25×", "≤0.67×", "usual", "≥1.5×", "≥4×", "≥10×"];
  return (
    <p class="hint legend">
      {second} per {event}, in comparison with the root:
      {steps.map((step, index) => (
        <span key={step}>
          <span class={`swatch d${index}`} />
          {step}
        </span>
      ))}
    </p>
  );
}
