// What all tests of the console share: one server, one browser, and a workspace for each of them.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { readFileSync } from "node:fs";

import { Chromium } from "./chromium.mjs";
import { Server, makeMember, makeWorkspace } from "./server.mjs";

/** A network between browsers and the server: it can be cut, and mended. */
export class Wire {
  #sockets = new Set();
  #isCut = false;

  constructor(port) {
    this.server = createServer((socket) => {
      if (this.#isCut) return void socket.destroy();
      const other = connect(port(), "127.0.0.1");
      for (const each of [socket, other]) {
        this.#sockets.add(each);
        each.on("close", () => this.#sockets.delete(each)).on("error", () => {});
      }
      socket.pipe(other).pipe(socket);
      socket.on("close", () => other.destroy());
      other.on("close", () => socket.destroy());
    });
  }
  async open() {
    await once(this.server.listen(0, "127.0.0.1"), "listening");
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }
  cut() {
    this.#isCut = true;
    for (const each of this.#sockets) each.destroy();
  }
  mend() {
    this.#isCut = false;
  }
  close() {
    this.cut();
    this.server.close();
  }
}

export class House {
  /** Signed in, by name, each with a workspace of their own but Ben, Bob, Dan, Max and Sam, in Olga's, Tina's,
      Dora's, Mona's and Rita's. What goes on side by side has nobody in common: preferences, roles and notifications are a person's. */
  people = {};

  async open() {
    this.wire = await new Wire(() => this.server.port).open();
    this.server = await Server.start([
      "server.workers=8", "auth.log_ins=1000", "auth.sign_ups_from_one_place=1000", `live.allowed_origins=${this.wire.url}`,
      "operators.accounts=ada@example.com,olga@example.com", "mail.most_attempts=1", "webhooks.allow_private_targets=true",
      "automations.scripts=label-results.lua", "feedback.survey_account_days=0", "feedback.survey_active_days=0",
    ]);
    // Its pages live for seconds: to optimize their scripts costs more than it gains.
    this.chromium = await Chromium.start("--js-flags=--no-turbofan --no-maglev");
    await this.#admit();
  }

  /** All before the first of them does anything: one of them puts the mail out of order. */
  async #admit() {
    await Promise.all(["Ada", "Olga", "Bea", "Cleo", "Dora", "Finn", "Ivo", "Kay", "Kit", "Mona", "Theo", "Tina", "Rita", "Nora", "Vera"].map(async (name) => {
      const short = name.toLowerCase();
      this.people[short] = await makeWorkspace(this.server, `${short}@example.com`, name);
    }));
    const { olga, tina, dora, mona, rita } = this.people;
    const members = [["ben", olga], ["bob", tina], ["dan", dora], ["max", mona], ["sam", rita]].map(async ([name, owner]) => {
      this.people[name] = await makeMember(this.server, owner, `${name}@example.com`, name[0].toUpperCase() + name.slice(1));
    });
    await Promise.all(members);
    // Olga is asked; others are not to be interrupted.
    const others = Object.entries(this.people).filter(([name]) => name !== "olga");
    await Promise.all(others.map(([, each]) => each.send("PATCH", "/v1/me/preferences", { surveys_opt_out: true })));
  }

  async close() {
    await this.chromium?.end();
    await this.server?.end();
    this.wire?.close();
  }
}

/** The addresses of the console as they are built: { path, needs }, with `:id` for a name and the operation
    without which there is no such page. */
export const addresses = () => JSON.parse(readFileSync(join(process.env.WORKBOARD_BUILD, "admin/packages/dist/addresses.json"), "utf8")).addresses;
