// What tests of a card's text share: a page that somebody writes in, and what the server has of it.
import { untilEqual } from "./until.mjs";
import { heading } from "./visits.mjs";

/** Keys by their names, and words behind a "=". */
export async function type({ keyboard }, ...keys) {
  for (const key of keys) await (key.length > 1 && !key.startsWith("=") ? keyboard.press(key) : keyboard.type(key.replace(/^=/, "")));
}

export class Writing {
  /** `person` gets a board of their own. */
  async begin({ server, chromium }, person) {
    Object.assign(this, { server, owner: person });
    this.board = await person.post("/v1/boards", { name: "Texts" });
    [this.column] = (await person.get(`/v1/boards/${this.board.id}/columns`)).results;
    this.page = await chromium.open(server.url + "/boards", { person });
    return this.page;
  }

  openCard = async (title, more = {}) => {
    const { owner, page, server } = this;
    const card = await owner.post(`/v1/boards/${this.board.id}/cards`, { column_id: this.column.id, title, ...more });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    page.complaints.length = 0;
    await page.goto(`${server.url}/cards/${card.id}`);
    await heading(page, title);
    await page.waitForSelector(".editor");
    await page.waitForSelector(".live.live");
    return card;
  };

  markdownOf = async (card) => (await this.owner.get(`/v1/cards/${card.id}/markdown`)).markdown.trim();
  /** Waits until the server has it so. */
  becomes = (card, expected) => untilEqual(() => this.markdownOf(card), expected, 20);
  blocksOf = async (card) => (await this.owner.get(`/v1/blocks/${card.id}/children?depth=10&page_size=100`)).results;
  append = (card, ...children) => this.owner.send("PATCH", `/v1/blocks/${card.id}/children`, { children });

  /** The editor knows where the cursor is. */
  heard = () => this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20))));
  /** The same, and the editor has heard of each. */
  type = async (...keys) => {
    for (const key of keys) {
      await type(this.page, key);
      if (/^(Shift\+)?(Home|End|Arrow\w+)$/.test(key)) await this.heard();
    }
  };
  /** Puts the cursor into a line, by its number or its words. */
  at = async (line) => {
    await this.page.click(typeof line === "number" ? `.editor .line >> nth=${line}` : `.editor .line >> text=${line}`);
    await this.heard();
  };
  paste = (text, type = "text/plain") => this.page.evaluate(([words, kind]) => {
    const data = new DataTransfer();
    data.setData(kind, words);
    document.querySelector(".editor").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, [text, type]);
  /** Each as HTML, as blocks of a text are copied. */
  pasteBlocks = (...blocks) => this.paste(`<div class="group" data-pm-slice="0 0 []">${blocks.map((each) => `<div data-block="x">${each}</div>`).join("")}</div>`, "text/html");

  saved = () => this.page.waitForSelector(".saving.saved", { state: "attached" });
  failed = () => this.page.waitForSelector(".saving.failed");
}

/** The calls by which the editor sends what was written. */
export const batches = "**/v1/cards/*/blocks:batch";
export const plain = (content) => ({ paragraph: { rich_text: [{ text: { content } }] } });
