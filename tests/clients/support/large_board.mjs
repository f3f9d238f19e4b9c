// A board of thousands of cards in Chromium, for what is said of its size and of its speed.
import { Chromium } from "./chromium.mjs";
import { Server, makeWorkspace } from "./server.mjs";

export const perColumn = 1_000;

export class LargeBoard {
  /** On a server of its own, started with `options` of Server.start. */
  async begin(options) {
    this.server = await Server.start(["server.workers=8"], options);
    this.chromium = await Chromium.start();
    this.owner = await makeWorkspace(this.server);
    this.board = await this.owner.post("/v1/boards", { name: "Large" });
    ({ results: this.columns } = await this.owner.get(`/v1/boards/${this.board.id}/columns`));
    await this.addCards(perColumn);
  }

  /** So many cards more in each column. */
  async addCards(count) {
    await Promise.all(this.columns.map(async (column, at) => {
      for (let from = 0; from < count; from += 100)
        await this.owner.post("/v1/cards:batch", {
          operations: Array.from({ length: Math.min(100, count - from) }, (_, index) => ({
            create: { board_id: this.board.id, column_id: column.id, title: `Card ${at} ${from + index}, with a title of some length`, priority: index % 4 ? "none" : "high" },
          })),
        });
    }));
  }

  get address() {
    return `${this.server.url}/boards/${this.board.id}`;
  }

  /** A page of the owner's, on a desk. */
  open(address = this.server.url + "/boards") {
    return this.chromium.open(address, { person: this.owner, viewport: { width: 1440, height: 900 } });
  }

  async end() {
    await this.chromium?.end();
    await this.server?.end();
  }
}

/** How many cards each column says it has. */
export const sizesOf = (page) => page.$$eval(".column-cards ul", (all) => all.map((each) => Number(each.querySelector("li")?.getAttribute("aria-setsize"))));
export const elementsOf = (page) => page.evaluate(() => document.querySelectorAll("*").length);

/** Takes the first card of the first column to the third, up and down in 60 steps, and drops it there. */
export async function dragAcross(page) {
  const boxes = await page.$$eval(".column-cards", (all) => all.map((each) => each.getBoundingClientRect().toJSON()));
  await page.mouse.move(boxes[0].x + 60, boxes[0].y + 40);
  await page.mouse.down();
  for (let step = 0; step <= 60; step += 1) await page.mouse.move(boxes[0].x + 60 + ((boxes[2].x - boxes[0].x) * step) / 60, boxes[0].y + 60 + 300 * Math.abs(Math.sin(step / 8)));
  await page.mouse.up();
  await page.waitForSelector(".toast");
}
