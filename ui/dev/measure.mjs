// Opens a page in a browser without a window, goes through its views, and prints how long the first one took and the memory of the
// page as JSON. `cargo xtask bench view` runs it: node dev/measure.mjs ADDRESS
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const VIEWS = ["functions", "flame", "tree", "callers", "graph", "treemap", "source", "overview"];
const KIB = 1024;

const [address] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const start = Date.now();
  await page.goto(`${address}&v=1&view=overview`);
  await settle(page);
  const usable_ms = Date.now() - start;
  const system = await browser.newBrowserCDPSession();
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  let heap_bytes = 0;
  let private_bytes = 0;
  for (const view of VIEWS) {
    await page.evaluate((view) => (location.hash = `#v=1&view=${view}`), view);
    await settle(page);
    const { metrics } = await session.send("Performance.getMetrics");
    const heap = metrics.find((it) => it.name === "JSHeapUsedSize")?.value ?? 0;
    heap_bytes = Math.max(heap_bytes, heap);
    private_bytes = Math.max(private_bytes, await memoryOfPages(system));
  }
  console.log(JSON.stringify({ usable_ms, heap_bytes, private_bytes }));
} finally {
  await browser.close();
}

/** Waits until nothing is asked any more. */
async function settle(page) {
  await page.waitForFunction(
    () =>
      document.querySelector("main") &&
      !document.querySelector("[aria-busy=true]") &&
      document.querySelector(".busy")?.textContent === "",
    undefined,
    { timeout: 120_000 },
  );
}

/** The memory of the largest process that shows pages, without what it shares with others; 0 where the system does not tell. */
async function memoryOfPages(system) {
  const { processInfo } = await system.send("SystemInfo.getProcessInfo");
  const sizes = processInfo
    .filter((it) => it.type === "renderer")
    .map((it) => {
      try {
        const text = readFileSync(`/proc/${it.id}/smaps_rollup`, "utf8");
        const lines = text.split("\n").filter((line) => /^Private_(Clean|Dirty):/.test(line));
        return lines.reduce((sum, line) => sum + Number(line.split(/\s+/)[1]) * KIB, 0);
      } catch {
        return 0;
      }
    });
  return Math.max(0, ...sizes);
}
