// Files in the console: attached to cards by button, paste and drop, shown in texts, sent with feedback.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { becomes, dropFiles, heading, holdBack, pasteFiles, picture } from "../support/visits.mjs";

export default (house) => describe("files", { concurrency: false }, () => {
  let server, chromium, owner, page, board, column;

  before(async () => {
    ({ server, chromium } = house);
    owner = house.people.finn;
    board = await owner.post("/v1/boards", { name: "Filing" });
    [column] = (await owner.get(`/v1/boards/${board.id}/columns`)).results;
    page = await chromium.open(server.url + "/boards", { person: owner });
  });

  async function openCard(title) {
    const card = await owner.post(`/v1/boards/${board.id}/cards`, { column_id: column.id, title });
    await page.goto(`${server.url}/cards/${card.id}`);
    await heading(page, title);
    await page.waitForSelector(".editor");
    return card;
  }
  const attached = async (card) => (await owner.get(`/v1/cards/${card.id}/attachments`)).results.map(({ filename }) => filename).sort();
  const shot = (name) => ({ name, type: "image/png", bytes: picture });
  /** Whether a picture on the page has arrived. */
  async function isDrawn(selector) {
    const picture = await page.waitForSelector(selector);
    await page.waitForFunction((each) => each.naturalWidth > 0, picture);
  }

  test("files are attached by button, paste and drop, downloaded, removed and brought back", async () => {
    const card = await openCard("With files");
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.click("text=Attach a file")]);
    await chooser.setFiles([{ name: "notes é.txt", mimeType: "text/plain", buffer: Buffer.from("Read me") }, { name: "empty type", mimeType: "", buffer: Buffer.from([1, 2, 3]) }]);
    await page.waitForSelector(".attachments a:text-is('notes é.txt')");
    await page.focus(".card-title textarea");
    await pasteFiles(page, ".card-title textarea", [shot("pasted.png")]);
    await isDrawn(".attachments li:has-text('pasted.png') img");
    await dropFiles(page, ".card-tabs", [{ name: "dropped.pdf", type: "application/pdf", bytes: Buffer.from("%PDF-1.4\n") }]);
    await page.waitForSelector(".attachments a:text-is('dropped.pdf')");
    assert.deepEqual(await attached(card), ["dropped.pdf", "empty type", "notes é.txt", "pasted.png"]);

    const address = await page.getAttribute(".attachments a:text-is('notes é.txt')", "href");
    assert.equal(await (await fetch(address)).text(), "Read me");
    await page.click("[aria-label='Remove dropped.pdf']");
    await becomes(() => attached(card), (names) => !names.includes("dropped.pdf"));
    await page.click(".toast >> nth=-1 >> text=Undo");
    await page.waitForSelector(".attachments a:text-is('dropped.pdf')");
    assert.deepEqual(page.complaints, []);
  });

  test("what is no picture is refused as one, and can be sent again or left", async () => {
    await openCard("Refused");
    await pasteFiles(page, ".card-title textarea", [{ name: "fake.png", type: "image/png", bytes: Buffer.from("<script>alert(1)</script>") }]);
    await page.waitForSelector(".attachments li:has-text('fake.png') [role=alert]");
    await page.click(".attachments li:has-text('fake.png') >> text=Try again");
    await page.waitForSelector(".attachments li:has-text('fake.png') [role=alert]");
    await page.click("[aria-label='Forget fake.png']");
    await page.waitForSelector(".attachments li", { state: "detached" });
  });

  test("pictures that are pasted and dropped into the text become blocks of it", async () => {
    const card = await openCard("With pictures");
    await page.click(".editor");
    await page.keyboard.type("Before");
    await pasteFiles(page, ".editor .line", [shot("one.png")]);
    await isDrawn(".editor .whole.image img");
    await page.keyboard.type(" it");
    await dropFiles(page, ".editor .line", [shot("two.png")]);
    await page.waitForFunction(() => document.querySelectorAll(".editor .whole.image img").length === 2);
    const blocks = await becomes(
      async () => (await owner.get(`/v1/blocks/${card.id}/children`)).results,
      (all) => all.length === 3 && all[0].paragraph.rich_text[0].plain_text === "Before it",
    );
    assert.deepEqual(blocks.map(({ type }) => type), ["paragraph", "image", "image"]);
    // Their addresses change with each reading; the text does not.
    await owner.post(`/v1/comments`, { parent: { card_id: card.id }, markdown: "Looks good" });
    await page.waitForSelector(".comment-text:has-text('Looks good')");
    assert.equal(await page.locator("text=Somebody else changed this text").count(), 0);
    await page.reload();
    await isDrawn(".editor .whole.image img");
    assert.deepEqual((await owner.get(`/v1/blocks/${card.id}/children`)).results.map(({ version }) => version), blocks.map(({ version }) => version));
    assert.deepEqual(page.complaints, []);
  });

  test("pictures that are on their way as the card is closed are put into it, and one that is refused holds back no other", async () => {
    const card = await openCard("Closed early");
    const letGo = await holdBack(page, "**/v1/files:presign", { times: 1 });
    await page.click(".editor");
    await page.keyboard.type("Before");
    await pasteFiles(page, ".editor .line", [shot("one.png"), { name: "fake.png", type: "image/png", bytes: "no picture" }, shot("two.png")]);
    await page.waitForSelector("text=Sending one.png");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
    const told = page.waitForSelector(".toast:has-text('fake.png was not sent')");
    letGo();
    const types = async () => (await owner.get(`/v1/blocks/${card.id}/children`)).results.map(({ type }) => type).join();
    await becomes(types, (all) => all === "paragraph,image,image");
    await told;
  });

  test("feedback takes a screenshot from the clipboard, shows it and keeps what was written until it is taken", async () => {
    await page.goto(`${server.url}/boards`);
    await page.click(".sidebar .foot >> text=Feedback");
    await heading(page, "Feedback");
    await page.fill("textarea", "The lines are too thin");
    await pasteFiles(page, "textarea", [shot("screen.png")]);
    await isDrawn("img[alt='The picture that goes along']");
    // The store is away for a moment: nothing that was written goes.
    await page.route("**/storage/upload", (route) => route.abort());
    await page.click("form button.go");
    await page.waitForSelector("form [role=alert]:has-text('does not answer')");
    assert.equal(await page.inputValue("textarea"), "The lines are too thin");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.click("form button.go");
    await page.waitForSelector(".toast:has-text('Thank you')");
    assert.equal(await page.inputValue("textarea"), "");
    await page.waitForSelector("tr:has-text('The lines are too thin')");
    const { results: [report] } = await owner.get("/v1/feedback");
    assert.equal(report.page_url, `${server.url}/boards`);
    assert.ok(report.screenshot_file_id);
  });
});
