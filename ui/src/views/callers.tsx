import { NeedFunction, Status, useAnswer } from "../parts/common";
import { Neighbours } from "../parts/inspector";
import { Cost } from "../parts/common";
import { callCount, visible } from "../format";
import { place } from "../state";

export function Callers() {
  const id = place.value.function;
  const { answer, error } = useAnswer(
    id === null ? null : { kind: "function", function: id, depth: 8, limit: 100 },
  );
  if (id === null) return <NeedFunction what="all its callers and callees, with their distance" />;
  return (
    <Status answer={answer} error={error}>
      {answer ? (
        <>
          <h1>{visible(answer.function.name)}</h1>
          <p class="where">
            {visible(answer.function.file)} · {visible(answer.function.object)}
          </p>
          <dl>
            <dt>Inclusive</dt>
            <dd>
              <Cost costs={answer.inclusive} estimate={answer.inclusive_estimated === true} />
            </dd>
            <dt>Self</dt>
            <dd>
              <Cost costs={answer.self} />
            </dd>
            <dt>Calls</dt>
            <dd>{callCount(answer)}</dd>
          </dl>
          <div class="cards">
            <Neighbours title="Callers" list={answer.callers} answer={answer} />
            <Neighbours title="Callees" list={answer.callees} answer={answer} />
            <Neighbours title="Callers of callers (estimate)" list={answer.far_callers} answer={answer} far />
            <Neighbours title="Callees of callees (estimate)" list={answer.far_callees} answer={answer} far />
          </div>
        </>
      ) : null}
    </Status>
  );
}
