// GRISTMILL=PROGRAM PORT=N node dev/server.mjs WORDS: words are those of `gristmill view`.
import { serve } from "./serve.mjs";

const served = await serve(
  process.env.GRISTMILL ?? "gristmill",
  process.argv.slice(2),
  Number(process.env.PORT ?? 4173),
);
console.log(served.url);
process.on("SIGINT", () => process.exit(0));
process.on("SIGTERM", () => process.exit(0));
process.on("exit", () => served.close());
