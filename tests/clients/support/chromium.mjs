// Debian's Chromium, with a profile of its own that goes with it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { chromium } from "playwright-core";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A name of this machine at which browsers hold plain HTTP to be what it is: some things are not there. */
export const plainHost = "board.home";

export class Chromium {
  static async start(...more) {
    const self = new Chromium();
    self.folder = mkdtempSync(join(tmpdir(), "workboard-chromium-"));
    // The server's addresses only: whatever else a page asks for is nowhere. By the name of plainHost a page comes as
    // from a server in the house.
    self.browser = await chromium.launch({
      executablePath: "/usr/bin/chromium-headless-shell",
      headless: true,
      args: [...flags, ...more, `--crash-dumps-dir=${self.folder}`, `--host-resolver-rules=MAP ${plainHost} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`],
      env: { ...process.env, HOME: self.folder },
    });
    return self;
  }

  /** A page in a browser that nobody has used before, or that `person`, a Rest, is signed in with; with a
      clock, its time can be put forward. `complaints` gets what the page does wrong. */
  async open(address, { person, hasClock, ...options } = {}) {
    const context = await this.browser.newContext(options);
    if (hasClock) await context.clock.install();
    if (person) await context.addCookies(person.cookieList(new URL(address).origin));
    return this.#openIn(context, address);
  }

  /** Another page in the same browser. */
  openBeside = (page, address) => this.#openIn(page.context(), address);

  async #openIn(context, address) {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.complaints = [];
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    page.on("console", (message) => {
      // What was refused is in the console by itself; whether that is right the page's test says.
      const isRefusal = /^Failed to load resource: .* (4\d\d|503) /.test(message.text());
      if (message.type() === "error" && !isRefusal) page.complaints.push(message.text());
    });
    await page.goto(address);
    return page;
  }

  async end() {
    await this.browser.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
