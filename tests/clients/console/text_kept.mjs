// Words that were written in a card's text are there once, while answers are slow or lost, the server refuses, the card is
// closed, and others write in it, too.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { deferred, until } from "../support/until.mjs";
import { holdBack, refusal } from "../support/visits.mjs";
import { Writing, batches, plain } from "../support/writing.mjs";

export default (house) => describe("a card's text is kept", { concurrency: false }, () => {
  const writing = new Writing();
  const { openCard, markdownOf, becomes, blocksOf, append, type, at, paste, pasteBlocks, saved, failed } = writing;
  const unknown = `<div data-whole='{"type":"nonsense"}'></div>`;
  let server, owner, page;

  before(async () => {
    page = await writing.begin(house, house.people.kit);
    ({ server, owner } = writing);
  });

  test("two who write at the same time both keep their words", async () => {
    const card = await openCard("Shared", { markdown: "alpha\n\nbeta" });
    await page.click(".editor .line >> nth=1");
    await type("End", "= of mine");
    const [first] = await blocksOf(card);
    await owner.send("PATCH", `/v1/blocks/${first.id}`, { paragraph: { rich_text: [{ text: { content: "alpha of theirs" } }] } });
    await becomes(card, "alpha of theirs\n\nbeta of mine");
    await page.waitForSelector(".editor .line:has-text('alpha of theirs')");
    await page.waitForSelector(".editor .line:has-text('beta of mine')");
    // Both in one block: the last who writes wins it, and knows.
    await type("= too");
    await becomes(card, "alpha of theirs\n\nbeta of mine too");
    assert.deepEqual(page.complaints, []);
  });

  test("what was written and its answer lost is there once, whatever is written before the answer is had", async () => {
    const card = await openCard("Lost answers");
    const keys = [];
    let lost = 2;
    await page.route(batches, async (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      const answer = await route.fetch();
      if (lost-- > 0) await route.abort();
      else await route.fulfill({ response: answer });
    });
    await page.click(".editor");
    await type("=one", "Enter", "=two");
    await failed();
    await type("= and more");
    await owner.send("PATCH", `/v1/blocks/${card.id}/children`, { children: [{ paragraph: { rich_text: [{ text: { content: "theirs" } }] } }] });
    await until(() => lost < 0, 30);
    await becomes(card, "one\n\ntwo and more\n\ntheirs");
    await page.waitForSelector(".editor .line:has-text('theirs')");
    assert.equal(new Set(keys.slice(0, 3)).size, 1, "the same batch, until it is answered");
    // Changed words, too, are not put in once more.
    lost = 1;
    await page.click(".editor .line >> nth=0");
    await type("End", "= changed");
    await failed();
    await type("= again");
    await becomes(card, "one changed again\n\ntwo and more\n\ntheirs");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    assert.equal(await page.$$eval(".editor .line", (lines) => lines.length), 3);
    page.complaints.length = 0; // of the calls that were cut
  });

  test("where answers take longer than pauses, every word is there once, and one batch is under way at a time", async () => {
    const card = await openCard("Slow", { markdown: "begin" });
    let [now, most] = [0, 0];
    const waits = [900, 200, 1_100, 0, 700];
    await page.route(batches, async (route) => {
      most = Math.max(most, (now += 1));
      const answer = await route.fetch();
      await new Promise((done) => setTimeout(done, waits.shift() ?? 0));
      now -= 1;
      await route.fulfill({ response: answer });
    });
    await at(0);
    await type("End");
    const words = Array.from({ length: 7 }, (_, count) => ` w${count}`);
    for (const word of words) {
      await type("=" + word);
      await new Promise((done) => setTimeout(done, 500));
    }
    await becomes(card, "begin" + words.join(""));
    await saved();
    assert.equal(most, 1);
    assert.equal(await page.textContent(".editor .line"), "begin" + words.join(""));
  });

  test("words that are written while others are sent, or without a network, are sent although the card is closed", async () => {
    const card = await openCard("Closed", { markdown: "begin" });
    const slowly = async (route) => {
      await new Promise((done) => setTimeout(done, 400));
      await route.continue().catch(() => {});
    };
    await page.route(batches, slowly);
    await at(0);
    const sent = page.waitForRequest(/blocks:batch/);
    await type("End", "= first");
    await sent;
    await type("= second", "Escape", "Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
    await becomes(card, "begin first second");
    // The same where another one was faster.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    const [block] = await blocksOf(card);
    const letGo = await holdBack(page, batches);
    await page.goto(`${server.url}/cards/${card.id}`);
    await page.waitForSelector(".editor");
    await at(0);
    await type("End", "= third", "Escape", "Escape");
    await owner.send("PATCH", `/v1/blocks/${block.id}`, plain("So begin first second"));
    letGo();
    await becomes(card, "So begin first second third");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.route(batches, (route) => route.abort(), { times: 2 });
    await page.goto(`${server.url}/cards/${card.id}`);
    await page.waitForSelector(".editor");
    await at(0);
    await type("End", "= fourth");
    await failed();
    await type("Escape", "Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
    await becomes(card, "So begin first second third fourth");
  });

  test("what could not be sent is there again after a reload, when the card is opened once more, and when one is signed in again", async () => {
    const card = await openCard("Begun", { markdown: "begin\n\nlast" });
    const fails = () => page.route(batches, (route) => route.abort());
    const openBeside = async () => {
      await page.click(".board-side .tile:has-text('Begun')");
      await page.waitForSelector(".editor .line");
    };
    await fails();
    await at(0);
    await type("End", "= one", "Enter", "=new");
    await failed();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.reload();
    await page.waitForSelector(".editor .line");
    await becomes(card, "begin one\n\nnew\n\nlast");
    await saved();
    await fails();
    await at(0);
    await type("End", "= two");
    await failed();
    await type("Escape", "Escape");
    await page.waitForSelector(".card-panel", { state: "detached" });
    await openBeside();
    await page.waitForSelector(".editor .line:has-text('begin one two')");
    await at(1);
    await type("End", "= too");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await becomes(card, "begin one two\n\nnew too\n\nlast");
    await saved();
    await page.route(batches, (route) => route.fulfill(refusal(401, "unauthorized", "Sign in.")), { times: 1 });
    await at("last");
    await type("End", "= three");
    await failed();
    await page.reload();
    await becomes(card, "begin one two\n\nnew too\n\nlast three");
    await page.waitForFunction((id) => !Object.keys(sessionStorage).some((key) => key.endsWith(id)), card.id);
    // What was sent as the page was left is not sent once more, whatever others have made of it since.
    await at("last");
    await type("End", "= four");
    await page.evaluate(() => new Promise((done) => { addEventListener("pagehide", done); dispatchEvent(new Event("pagehide")); }));
    await page.goto(`${server.url}/boards`);
    await becomes(card, "begin one two\n\nnew too\n\nlast three four");
    const blocks = await blocksOf(card);
    await owner.send("PATCH", `/v1/blocks/${blocks[2].id}`, plain("four times three, at last"));
    await page.goto(`${server.url}/cards/${card.id}`);
    await page.waitForSelector(".editor .line:has-text('four times three, at last')");
    await page.waitForFunction((id) => !Object.keys(sessionStorage).some((key) => key.endsWith(id)), card.id);
    assert.equal(await markdownOf(card), "begin one two\n\nnew too\n\nfour times three, at last");
  });

  test("one's own words stay where the card is read while they are sent, and undo and selection where others write", async () => {
    const card = await openCard("Others", { markdown: "alpha\n\nbeta" });
    let hold = true;
    await page.route("**/v1/blocks/*/children*", async (route) => {
      const answer = await route.fetch();
      if (hold) await new Promise((done) => setTimeout(done, 900)); // it is older than what is written meanwhile
      await route.fulfill({ response: answer });
    });
    await page.route(batches, async (route) => {
      await append(card, plain("theirs")); // whereupon the page reads
      await new Promise((done) => setTimeout(done, 500));
      await route.continue();
    }, { times: 1 });
    await at(0);
    await type("End");
    await page.keyboard.insertText(" mine"); // one step for undo, however slow the machine
    await becomes(card, "alpha mine\n\nbeta\n\ntheirs");
    await page.waitForSelector(".editor .line:has-text('theirs')");
    hold = false;
    assert.equal(await page.textContent(".editor .line >> nth=0"), "alpha mine");
    // Undo is of one's own words, and what is selected stays so.
    await at(1);
    await type("Home", "Shift+End");
    const [first] = await blocksOf(card);
    await owner.send("PATCH", `/v1/blocks/${first.id}`, plain("So alpha mine"));
    await page.waitForSelector(".editor .line:has-text('So alpha mine')");
    assert.equal(await page.evaluate(() => String(getSelection())), "beta");
    await type("Control+z");
    await becomes(card, "So alpha\n\nbeta\n\ntheirs");
    // Also where they write above and below at once.
    await at(1);
    await type("End");
    await page.keyboard.insertText(" own");
    await becomes(card, "So alpha\n\nbeta own\n\ntheirs");
    await saved();
    const [above, , below] = await blocksOf(card);
    const update = ({ id }, content) => ({ op: "update", id, block: plain(content) });
    await owner.post(`/v1/cards/${card.id}/blocks:batch`, { operations: [update(above, "Alder"), update(below, "Cedar")] });
    await page.waitForSelector(".editor .line:has-text('Cedar')");
    await type("Control+z");
    await becomes(card, "Alder\n\nbeta\n\nCedar");
    assert.deepEqual(page.complaints, []);
  });

  test("what the server does not take holds back nothing else, and links that it does not take are words", async () => {
    const card = await openCard("Refused", { markdown: "one\n\ntwo" });
    await at("two");
    await type("End", "Enter");
    await paste('<p>Call <a href="tel:12">us</a>, <a href="https://user:word@example.com/">there</a> or <a href="https://example.com/x">here</a></p>', "text/html");
    await becomes(card, "one\n\ntwo\n\nCall us, there or [here](<https://example.com/x>)");
    await type("Enter");
    await pasteBlocks(unknown);
    await at("one");
    await type("End", "= more");
    await failed();
    await until(async () => (await markdownOf(card)).startsWith("one more\n\ntwo"));
    assert.match(await markdownOf(card), /^one more\n\ntwo/);
    await page.click(".editor .whole");
    await type("Backspace");
    await saved();
    page.complaints.length = 0; // of what was refused
  });

  test("what is behind something that the server does not take is sent", async () => {
    const words = Array.from({ length: 12 }, (_, count) => `line ${count}`);
    const nobody = { type: "mention", mention: { type: "user", user: { id: crypto.randomUUID() } } };
    const stranger = `<p>For <span data-piece='${JSON.stringify({ text: "@nobody", whole: nobody })}'>@nobody</span></p>`;
    for (const refused of [[unknown], [stranger, stranger, stranger, stranger]]) {
      const card = await openCard("Behind the refused", { markdown: "one" });
      let sent = 0;
      await page.route(batches, (route) => { sent += 1; return route.continue(); });
      await at("one");
      await type("End", "Enter");
      await pasteBlocks(...refused, ...words.map((each) => `<p>${each}</p>`));
      await failed();
      await becomes(card, ["one", ...words].join("\n\n"));
      assert.ok(sent <= 3, `${sent} requests`); // an empty line perhaps, all, and what is left
      await page.unrouteAll({ behavior: "ignoreErrors" });
    }
    page.complaints.length = 0; // of what was refused
  });

  test("what is written while something is refused is sent, though no event says that anything has changed", async () => {
    let isDeaf = true;
    await page.routeWebSocket(/\/v1\/ws/, (socket) => { if (!isDeaf) socket.connectToServer(); });
    const card = await openCard("Refused meanwhile", { markdown: "one" });
    await at("one");
    await type("End", "Enter");
    await pasteBlocks(unknown);
    await failed();
    // Refused, and sent once more without that; then it is written.
    const sentAgain = deferred(), written = deferred();
    let sends = 0;
    await page.route(batches, async (route) => {
      sends += 1;
      if (sends === 2) {
        sentAgain.resolve();
        await written.promise;
      }
      await route.continue();
    });
    await at("one");
    await type("End", "= more");
    await sentAgain.promise;
    await type("= words");
    written.resolve();
    await becomes(card, "one more words");
    await page.unroute(batches);
    isDeaf = false;
    page.complaints.length = 0; // of what was refused
  });

  test("what is put below something that the server does not take stays where it is, and is not deleted", async () => {
    const card = await openCard("Below the refused", { markdown: "one\n\ntwo" });
    await at("two");
    await type("Home");
    await pasteBlocks(`<p data-line='{"type":"paragraph","props":{"color":"nonsense"}}'>refused</p>`);
    await failed();
    await at("two");
    await type("Tab", "Tab");
    await page.waitForSelector(".editor .block:has(> .line:has-text('refused')) > .group .line:has-text('two')");
    await until(async () => (await page.locator(".saving.failed").count()) === 0, 3); // it is tried once more
    await failed();
    await becomes(card, "one\n\n<!-- empty -->\n\ntwo");
    page.complaints.length = 0; // of what was refused
  });

  test("what was not sent of a card that is archived meanwhile is there when it is brought back", async () => {
    const card = await openCard("Archived", { markdown: "begin" });
    await page.route(batches, (route) => route.abort());
    await at(0);
    await type("End", "= mine");
    await failed();
    await owner.post(`/v1/cards/${card.id}:archive`);
    await page.waitForSelector(".editor[contenteditable=false]");
    await page.waitForSelector(".saving:has-text('is not saved')");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.evaluate(() => dispatchEvent(new Event("pagehide")));
    await page.goto(`${server.url}/boards`);
    await owner.post(`/v1/cards/${card.id}:restore`);
    await page.goto(`${server.url}/cards/${card.id}`);
    await becomes(card, "begin mine");
    page.complaints.length = 0; // of the calls that were cut
  });

  test("a new line behind one that somebody deletes meanwhile is kept", async () => {
    const card = await openCard("Behind", { markdown: "first\n\nlast" });
    const [first] = await blocksOf(card);
    await page.route(batches, async (route) => {
      await owner.send("DELETE", `/v1/blocks/${first.id}`);
      await route.continue();
    }, { times: 1 });
    await at("first");
    await type("End", "Enter", "=new");
    await until(async () => /new/.test(await markdownOf(card)));
    await saved();
    assert.equal((await markdownOf(card)).split(/\n+/).sort().join(), "last,new");
    page.complaints.length = 0; // of what was refused
  });
});
