// The web pages as people go through them, in Chromium: signing up and in, an invitation, a share
// link, and what is nowhere.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Chromium } from "./support/chromium.mjs";
import { Server, makeWorkspace } from "./support/server.mjs";
import { callFrom, enter as enterOn, fill, heading, mailedLink, password, says, signIn as signInOn } from "./support/visits.mjs";

let server, chromium, owner, board;

before(async () => {
  server = await Server.start(["server.workers=8"]);
  chromium = await Chromium.start();
  owner = await makeWorkspace(server);
  board = await owner.post("/v1/boards", { name: "Deliveries <b>" });
});
after(async () => {
  await chromium?.end();
  await server?.end();
});

const open = (path, options) => chromium.open(new URL(path, server.url).href, options);

const mailed = (address, path) => mailedLink(server, address, path);
const signIn = (page, email, word) => signInOn(page, server, email, word);
const enter = (page, email, word) => enterOn(page, server, email, word);

/** What the newest call of this operation is as curl, by the page's own list. */
async function shownCall(page, operation) {
  await page.click("text=Calls as curl");
  await page.check(".dialog input[type=checkbox]");
  const details = page.locator(`.dialog .call:has(strong:text-is("${operation}"))`).first();
  await details.locator("summary").click();
  const call = await details.locator(".sample").textContent();
  await page.keyboard.press("Escape");
  await page.waitForSelector(".dialog", { state: "detached" });
  return call;
}

test("a person signs up, confirms, signs out and signs in again", async () => {
  const email = "grace@example.com";
  const page = await open("/");
  await page.click("text=Sign up");
  await fill(page, { name: "Grace", email, password });
  await heading(page, "Read your mail");

  await page.goto(await mailed(email, "verify-email"));
  assert.equal(new URL(page.url()).search, "", "the token is out of the history");
  await page.click("text=Confirm and sign in");
  await heading(page, "Welcome, Grace");

  // Whoever is signed in goes on from the start page, and from the one to sign in.
  for (const path of ["/", "/login"]) {
    await page.goto(server.url + path);
    await heading(page, "Welcome, Grace");
  }
  await page.click("text=Sign out");
  await page.waitForSelector("#login");
  await fill(page, { email, password: "another horse" });
  await page.waitForSelector("#login .outcome:has-text('do not go together')");
  const call = await shownCall(page, "log_in");
  assert.match(call, /--json '\{"email":"grace@example.com","password":"<password>"\}'/);
  await fill(page, { email, password });
  await heading(page, "Welcome, Grace");
  assert.deepEqual(page.complaints, []);
});

test("who confirms in another browser chooses a password, and can sign in with it", async () => {
  const email = "lin@example.com";
  await (await fetch(server.url + "/v1/auth/signup", {
    method: "POST",
    headers: { "X-Board-Version": "2026-06-19", "Content-Type": "application/json" },
    body: JSON.stringify({ email, password }),
  })).json();
  const link = await mailed(email, "verify-email");
  const page = await open(link);
  await page.click("text=Confirm and sign in");
  await heading(page, "Choose a password");
  await fill(page, { new_password: "another horse entirely" });
  await heading(page, "Welcome");

  const again = await open("/login");
  await signIn(again, email, "another horse entirely");
  await heading(again, "Welcome");

  const used = await open(link);
  await used.click("text=Confirm and sign in");
  await says(used, "has been used");
});

test("a forgotten password is replaced by the mailed link, whether or not the page knows the address", async () => {
  const page = await open("/reset-password");
  await fill(page, { email: "nobody@example.com" });
  await heading(page, "Read your mail");
  const unknown = await page.textContent("main > .outcome");
  await page.goto(server.url + "/reset-password");
  await fill(page, { email: "ada@example.com" });
  await heading(page, "Read your mail");
  assert.equal(await page.textContent("main > .outcome"), unknown);
  await page.goto(await mailed("ada@example.com", "reset-password"));
  await fill(page, { new_password: password });
  await heading(page, "The password is changed");
  await page.click("text=Sign in with it");
  await fill(page, { email: "ada@example.com", password });
  await heading(page, "Boards");
  owner = undefined;  // every session has ended
});

test("who is invited signs up on the page of the mail, and is a member", async () => {
  const ada = await open("/login");
  await enter(ada, "ada@example.com");
  const email = "bob@example.com";
  const { body: { results: [{ org_id }] } } = await callFrom(ada, "GET", "/v1/me/memberships");
  const message = "<img src=x onerror=alert(1)> see you";
  const invite = (to) => callFrom(ada, "POST", `/v1/orgs/${org_id}/invitations`, { email: to, message });
  assert.equal((await invite(email)).status, 201);

  const link = await mailed(email, "invitations");
  const page = await open(link);
  await heading(page, "Join Acme");
  assert.equal(await page.textContent("#words"), "<img src=x onerror=alert(1)> see you");
  assert.equal(new URL(page.url()).search, "", "the token is out of the history");
  await fill(page, { name: "Bob", password });
  await heading(page, "Boards");
  await page.click('a:text-is("Deliveries <b>")');
  await heading(page, "Deliveries <b>");
  assert.deepEqual(page.complaints, []);

  const late = await open(link);
  await says(late, "has been accepted already");
  const wrong = await open(link.replace(/token=.*/, "token=wrong"));
  await heading(wrong, "No such invitation");

  // Somebody who has an account answers it signed in, and nobody else does.
  assert.equal((await invite("grace@example.com")).status, 201);
  const second = await mailed("grace@example.com", "invitations");
  const other = await page.goto(second).then(() => page);
  await says(other, "which is another address");
  const grace = await open(second);
  await grace.click("text=Sign in");
  await fill(grace, { email: "grace@example.com", password });
  await heading(grace, "Join Acme");
  await grace.click("text=Decline");
  await heading(grace, "Declined");
});

test("a share link shows the board to whoever knows its password, and its cards as text", async () => {
  const ada = await open("/login");
  await enter(ada, "ada@example.com");
  const { body: { results: [column] } } = await callFrom(ada, "GET", `/v1/boards/${board.id}/columns`);
  const title = "<script>document.title = 'taken'</script>";
  const markdown = "# Plan\n\n**bold** [bad](javascript:alert(1)) [good](https://example.com/)\n\n"
    + "<img src=x onerror=\"document.title='taken'\">\n\n- [x] done\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |";
  const { body: card } = await callFrom(ada, "POST", `/v1/boards/${board.id}/cards`, { column_id: column.id, title, markdown });
  const { body: { url } } = await callFrom(ada, "POST", `/v1/boards/${board.id}/share-links`, { password: "open sesame" });

  const page = await open(url);
  await heading(page, "This link has a password");
  await fill(page, { password: "open what" });
  await says(page, "not the link's password");
  await fill(page, { password: "open sesame" });
  await heading(page, "Deliveries <b>");
  const call = await shownCall(page, "get_shared_board");
  assert.match(call, /-H "x-svc-share-password: <x-svc-share-password>"/);
  assert.doesNotMatch(call, /Authorization|sesame/);
  await page.click(`a:text-is("${card.title}")`);
  await heading(page, card.title);
  await page.waitForSelector(".written strong:text-is('bold')");
  assert.equal(await page.textContent(".written a"), "good", "no link leads to a script");
  assert.equal(await page.locator(".written img, .written script").count(), 0);
  assert.equal(await page.locator(".written td").count(), 2);
  await page.click("text=Deliveries");
  await heading(page, "Deliveries <b>");
  assert.deepEqual(page.complaints, []);

  await ada.goto(card.url);
  await heading(ada, card.title);
  await ada.waitForSelector(".editor strong:text-is('bold')");
  assert.deepEqual(await ada.$$eval(".editor a", (all) => all.map((each) => each.textContent)), ["good"]);
  assert.equal(await ada.locator(".editor img, .editor script").count(), 0);
  const stranger = await open(card.url);
  await heading(stranger, "Sign in");
  await fill(stranger, { email: "ada@example.com", password });
  await heading(stranger, card.title);

  const gone = await open(url.slice(0, -1) + (url.endsWith("A") ? "B" : "A"));
  await says(gone, "There is no such link");
});

test("boards of every workspace are a choice away, and open whichever the tab works in", async () => {
  const ada = await open("/login");
  await enter(ada, "ada@example.com");
  const { body: org } = await callFrom(ada, "POST", "/v1/orgs", { name: "Second" });
  const { body: elsewhere } = await callFrom(ada, "POST", "/v1/boards", { name: "Elsewhere" }, { "X-Svc-Org": org.id });
  await ada.reload();
  await ada.click(".switcher");
  await ada.click("[role=menuitem] >> text=Second");
  await ada.click('a:text-is("Elsewhere")');
  await heading(ada, "Elsewhere");
  await ada.click(".switcher");
  await ada.click("[role=menuitem] >> text=Acme");
  await ada.waitForSelector('a:text-is("Deliveries <b>")');
  // Its address opens it whichever workspace the tab works in.
  await ada.goto(`${server.url}/boards/${elsewhere.id}`);
  await heading(ada, "Elsewhere");
  assert.match(await ada.textContent(".switcher"), /Second/);
  assert.deepEqual(ada.complaints, []);
});

test("what is nowhere is a page for browsers and JSON for programs", async () => {
  const page = await open("/nowhere/at/all");
  await heading(page, "Nothing here");
  const asked = await fetch(server.url + "/nowhere/at/all");
  assert.equal(asked.status, 404);
  assert.match(asked.headers.get("content-type"), /json/);
});
