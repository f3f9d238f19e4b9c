// The main task of every page for people who come from outside, done by keys alone; and that no page of
// the console is left out.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";

import { addresses } from "../support/console.mjs";
import { OnlyKeys, coverage } from "../support/keys.mjs";
import { callFrom, consentPath, heading, mailedLink, password } from "../support/visits.mjs";

export default (house) => describe("by keys alone, from outside", { concurrency: false }, () => {
  const program = createServer((request, answer) => {
    program.heard = request.url;
    answer.end("Go on in the program.");
  });
  let server, olga, page, type, press, pick;

  before(async () => {
    await once(program.listen(0, "127.0.0.1"), "listening");
    ({ server } = house);
    ({ olga } = house.people);
  });
  after(() => program.close());
  const task = coverage.task;
  const come = async (address, person) => {
    await page?.context().close();
    page = await house.chromium.open(new URL(address, server.url).href, { person, timezoneId: "America/New_York", locale: "de-CH" });
    ({ type, press, pick } = new OnlyKeys(page));
    await page.waitForFunction(() => document.querySelector("h1") && !document.querySelector(".waiting"));
  };

  task(["/", "/signup", "/verify-email"], "a stranger signs up and confirms the address", async () => {
    await come("/");
    await pick("Sign up");
    await page.waitForSelector("input[name=email]:focus");
    await type("hana@example.com");
    await press("Tab");
    await type("Hana");
    await press("Tab");
    await type(password);
    await press("Enter");
    await heading(page, "Read your mail");
    await page.goto(await mailedLink(server, "hana@example.com", "verify-email"));
    await pick("Confirm and sign in");
    await heading(page, "Welcome, Hana");
    // Times are those of where the browser is, without a word about it.
    const { body } = await callFrom(page, "GET", "/v1/me/preferences");
    assert.deepEqual([body.timezone, body.locale], ["America/New_York", "de-CH"]);
  });

  task(["/reset-password"], "a forgotten password is replaced", async () => {
    await come("/login");
    await pick("Forgot the password?");
    await heading(page, "Choose a new password");
    await page.waitForSelector("input[name=email]:focus");
    await type("hana@example.com");
    await press("Enter");
    await heading(page, "Read your mail");
    await page.goto(await mailedLink(server, "hana@example.com", "reset-password"));
    await page.waitForSelector("input[name=new_password]:focus");
    await type("another horse entirely");
    await press("Enter");
    await heading(page, "The password is changed");
    await pick("Sign in with it");
    await page.waitForSelector("input[name=email]:focus");
    await type("hana@example.com");
    await press("Tab");
    await type("another horse entirely");
    await press("Enter");
    await heading(page, "Welcome, Hana");
  });

  task(["/invitations/:id"], "who is invited signs up and joins", async () => {
    await olga.post(`/v1/orgs/${olga.headers["X-Svc-Org"]}/invitations`, { email: "ida@example.com" });
    await come(await mailedLink(server, "ida@example.com", "invitations"));
    await heading(page, "Join Acme");
    await pick("Name", "I");
    await type("da");
    await press("Tab");
    await type(password);
    await press("Enter");
    await heading(page, "Boards");
  });

  task(["/shared/:token"], "a shared board is unlocked, and a card of it read", async () => {
    const board = await olga.post("/v1/boards", { name: "Shown around" });
    await olga.post(`/v1/boards/${board.id}/cards`, { column_id: board.column_ids[0], title: "To be read", markdown: "By everybody." });
    const { url } = await olga.post(`/v1/boards/${board.id}/share-links`, { password: " Сезам, öffne dich " });
    await come(url);
    await page.waitForSelector("input[name=password]:focus");
    await type("Сезам, öffne dich");
    await press("Enter");
    await heading(page, "Shown around");
    await pick("To be read");
    await heading(page, "To be read");
    await page.waitForSelector(".written:has-text('By everybody.')");
  });

  task(["/oauth/authorize"], "a program is let in", async () => {
    const callback = `http://127.0.0.1:${program.address().port}/callback`;
    await come(await consentPath(server, callback), olga);
    await heading(page, "Connect A client");
    await pick("Allow");
    await page.waitForURL((url) => url.pathname === "/callback");
    assert.match(program.heard, /[?&]code=[^&]+/);
  });

  test("every address of the console had its main task done by keys", () => {
    const left = addresses().map(({ path }) => path).filter((path) => !coverage.done.has(path));
    assert.deepEqual(left, [], "these have none");
  });
});
