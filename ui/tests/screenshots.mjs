// Pictures of all views, for people to look at: `cargo xtask screenshots`. GRISTMILL_SHOTS names the directory, GRISTMILL_SHOTS_ONLY
// a text that their names must have.
import { test } from "node:test";
import { close, COMPARED, open, PROFILES, README, settle, shot, SIZES, skip, VIEWS } from "./browser.mjs";

const only = process.env.GRISTMILL_SHOTS_ONLY ?? "";

/** Selects a function by the search of the palette, as a person does. */
async function choose(page, name) {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(name);
  await page.waitForSelector(`#choice-0:has-text("${name}")`);
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog", { state: "detached" });
  await settle(page);
}

async function take(name, words, hash, { selects, keys = [], dark, size }) {
  const page = await open(words, hash, { dark, size });
  if (selects) {
    await choose(page, selects);
    await page.evaluate((view) => {
      location.hash = location.hash.replace(/view=\w+/, view);
    }, hash.split("&")[0]);
    await settle(page);
  }
  for (const key of keys) await page.keyboard.press(key);
  await settle(page);
  await shot(page, name);
  await close(page);
}

/** Pictures of one place in each size and theme. */
function pictures(name, words, hash, options = {}) {
  for (const size of options.sizes ?? SIZES) {
    for (const dark of [false, true]) {
      const full = `${name}-${size.width}-${dark ? "dark" : "light"}`;
      if (!full.includes(only)) continue;
      test(full, { skip }, () => take(full, words, hash, { ...options, dark, size }));
    }
  }
}

for (const view of VIEWS) pictures(view, PROFILES.code, `view=${view}`, { selects: "sort_grains" });
for (const view of COMPARED) {
  pictures(`changed-${view}`, PROFILES.changed, `view=${view}&cmp=1`, {
    selects: "treat_all",
  });
}
// The recording of the README, and the comparison that it shows.
const small = { sizes: [{ width: 1280, height: 720 }] };
pictures("readme-source", README.source, "view=source", {
  selects: "sort_grains",
  ...small,
});
pictures("readme-changes", README.changes, "view=graph&cmp=1", {
  selects: "sort_grains",
  ...small,
});
pictures("parts-threads", PROFILES.threads, "view=parts");
pictures("findings-some", PROFILES.xdebug2, "view=findings");
pictures("overview-cpp", PROFILES.cpp, "view=overview");
pictures("flame-python", PROFILES.python, "view=flame");
pictures("graph-python", PROFILES.python, "view=graph&around=0");
pictures("treemap-events", PROFILES.events, "view=treemap");
pictures("empty-graph", PROFILES.cachegrind, "view=graph");
pictures("empty-assembly", PROFILES.cachegrind, "view=assembly");
pictures("empty-source", PROFILES.noProgram, "view=source", {
  selects: "main",
});
pictures("help", PROFILES.c, "view=functions", { keys: ["?"] });
pictures("saved-views", PROFILES.c, "view=functions", { keys: ["b"] });
