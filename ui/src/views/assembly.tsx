import { visible } from "../format";
import { place } from "../state";
import { Cost, Empty, Name, NeedFunction, Status, useAnswer } from "../parts/common";

export function AssemblyView() {
  const id = place.value.function;
  const { answer, error } = useAnswer(id === null ? null : { kind: "assembly", function: id });
  if (id === null) return <NeedFunction what="its instructions, with their costs" />;
  const code = answer?.functions[0];
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        !code || code.instructions.length === 0 ? (
          <Empty title="No instructions">Record with --dump-instr=yes to have costs by instruction.</Empty>
        ) : (
          <>
            <h1>{visible(code.name)}</h1>
            {answer.programs.map((program) =>
              program.problem || program.hint ? (
                <p class="warn" key={program.object}>
                  {visible(program.object)}: {visible(program.problem ?? "")} {visible(program.hint ?? "")}
                </p>
              ) : null,
            )}
            <div class="scroll" tabIndex={0} role="region" aria-label="Machine code">
              <table class="src">
                <thead>
                  <tr>
                    <th scope="col" class="num">
                      Address
                    </th>
                    <th scope="col" class="num">
                      Self
                    </th>
                    <th scope="col">Instruction</th>
                  </tr>
                </thead>
                <tbody>
                  {code.instructions.map((step) => (
                    <>
                      <tr key={step.address}>
                        <td class="num faint">{step.address}</td>
                        <td class="num">{step.has_cost ? <Cost costs={step.self} /> : null}</td>
                        <td>
                          <pre>{visible(step.text ?? "(not readable)")}</pre>
                        </td>
                      </tr>
                      {step.calls.map((call, i) => (
                        <tr class="callrow" key={`${step.address}.${i}`}>
                          <td />
                          <td class="num">
                            <Cost costs={call.cost} bar={false} />
                          </td>
                          <td>
                            ↳ {call.calls} × <Name row={{ ...call, file: "", object: "" }} />
                          </td>
                        </tr>
                      ))}
                    </>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )
      ) : null}
    </Status>
  );
}
