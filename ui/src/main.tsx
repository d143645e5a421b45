import { render } from "preact";
import { Frame } from "./parts/frame";
import { OpeningScreen, useDrop } from "./parts/opening";
import { opening } from "./opening";

function Page() {
  const isDropping = useDrop();
  return (
    <>
      {opening.value ? <OpeningScreen /> : <Frame />}
      {isDropping ? <div class="dropping" /> : null}
    </>
  );
}

render(<Page />, document.getElementById("app")!);
