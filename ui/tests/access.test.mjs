// Each view, light and dark, large and small: no error, nothing wider than the window, no violation of WCAG AA.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  close,
  COMPARED,
  functionRow,
  open,
  PROFILES,
  selecting,
  shot,
  SIZES,
  skip,
  VIEWS,
  violations,
} from "./browser.mjs";

async function check(words, view, hash, name) {
  for (const dark of [false, true]) {
    for (const size of SIZES) {
      const page = await open(words, `view=${view}&${hash}`, { dark, size });
      await shot(page, `${name}-${dark ? "dark" : "light"}-${size.width}`);
      assert.deepEqual(await violations(page), [], `${name}, ${dark ? "dark" : "light"}, ${size.width}`);
      await close(page);
    }
  }
}

// They wait most of the time.
describe("access", { concurrency: 3 }, () => {
  for (const view of VIEWS) {
    test(`${view} can be used by everybody`, { skip }, async () => {
      const selection = selecting(functionRow(PROFILES.code[0], "sort_grains"));
      await check(PROFILES.code, view, selection, view);
    });
  }

  for (const view of COMPARED) {
    test(`${view} can be used by everybody in comparison`, { skip }, async () => {
      const selection = selecting(functionRow(PROFILES.changed[0], "sort_grains"));
      await check(PROFILES.changed, view, `cmp=1&${selection}`, `changed-${view}`);
    });
  }

  for (const view of ["flame", "graph", "treemap", "sandwich"]) {
    test(`${view} as a table can be used by everybody`, { skip }, async () => {
      const selection = selecting(functionRow(PROFILES.c[0], "sort_grains"));
      await check(PROFILES.c, view, `t=1&${selection}`, `${view}-table`);
    });
  }

  for (const view of ["flame", "graph", "treemap", "sandwich"]) {
    test(`${view} of a comparison as a table can be used by everybody`, { skip }, async () => {
      const selection = selecting(functionRow(PROFILES.changed[0], "sort_grains"));
      await check(PROFILES.changed, view, `cmp=1&t=1&${selection}`, `changed-${view}-table`);
    });
  }

  test("findings can be used by everybody", { skip }, async () => {
    await check(PROFILES.xdebug2, "findings", "", "findings-some");
  });

  test("source without text can be used by everybody", { skip }, async () => {
    const selection = selecting(functionRow(PROFILES.noProgram[0], "sort_grains"));
    await check(PROFILES.noProgram, "source", selection, "source-without-text");
  });

  for (const profile of ["cpp", "events", "threads", "cachegrind", "xdebug", "pprof", "python"]) {
    test(`all views open for the profile "${profile}"`, { skip }, async () => {
      for (const view of VIEWS) {
        const page = await open(PROFILES[profile], `view=${view}`);
        await page.keyboard.press("]");
        assert.equal(await page.getByRole("heading", { name: "No answer" }).count(), 0, `${profile} ${view}`);
        await close(page);
      }
    });
  }

  for (const [name, keys] of [
    ["palette", ["Control+k"]],
    ["help", ["?"]],
    ["saved views", ["b"]],
    ["formula", ["Control+k", "f", "o", "r", "m", "u", "l", "a", "Enter"]],
  ]) {
    test(`the dialog "${name}" can be used by everybody`, { skip }, async () => {
      for (const dark of [false, true]) {
        const page = await open(PROFILES.events, "view=functions", { dark });
        for (const key of keys) await page.keyboard.press(key);
        await page.waitForSelector("dialog");
        await page.waitForTimeout(200);
        await shot(page, `${name}-${dark ? "dark" : "light"}`);
        assert.deepEqual(await violations(page), []);
        await page.keyboard.press("Escape");
        await page.waitForSelector("dialog", { state: "detached" });
        await close(page);
      }
    });
  }
});
