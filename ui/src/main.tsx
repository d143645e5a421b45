import { render } from "preact";
import { Frame } from "./parts/frame";

render(<Frame />, document.getElementById("app")!);
