// People who have no mouse: pages that take keys alone, and a list of what has been done so.
import { test } from "node:test";

import { heading, settle, tabTo } from "./visits.mjs";

/** A page on which whatever is no key is a mistake of the test. */
export class OnlyKeys {
  constructor(page) {
    this.page = page;
    for (const way of ["click", "dblclick", "tap", "check", "uncheck", "fill", "hover", "dragAndDrop", "selectOption"])
      page[way] = () => { throw new Error(`${way} is no key`); };
  }

  type = (text) => this.page.keyboard.type(text);
  press = async (...keys) => {
    for (const key of keys) await this.page.keyboard.press(key);
  };
  tabTo = (name) => tabTo(this.page, name);
  /** Goes on to something that is called so, and presses it. */
  pick = async (name, key = "Enter") => {
    await this.tabTo(name);
    await this.press(key);
  };
  /** To another page of the console, from wherever one is. */
  go = async (key, title) => {
    const there = this.page.locator("h1", { hasText: title });
    // The two keys belong together only where they come soon after each other.
    for (let tries = 0; tries < 3 && !(await there.isVisible()); tries += 1) {
      await this.page.evaluate(() => document.activeElement.blur());
      await this.press("g", key);
      await there.waitFor({ timeout: 10_000 }).catch(() => {});
    }
    await heading(this.page, title);
    await settle(this.page);
  };
}

/** The addresses whose main task was done. */
export const coverage = {
  done: new Set(),
  task: (paths, title, work) =>
    test(title, async () => {
      await work();
      for (const path of paths) coverage.done.add(path);
    }),
};
