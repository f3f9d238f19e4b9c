// The web pages of a server that takes no new accounts, or only by invitation (`auth.sign_up`), and what
// they say to whom the operator has shut out.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Chromium } from "./support/chromium.mjs";
import { Server, makeWorkspace } from "./support/server.mjs";
import { fill, heading, mailedLink, password, says, settle, signIn, slowDown } from "./support/visits.mjs";

let server, chromium, owner, invite;

before(async () => {
  server = await Server.start();
  chromium = await Chromium.start();
  owner = await makeWorkspace(server);
  invite = async (email) => {
    await owner.post(`/v1/orgs/${owner.headers["X-Svc-Org"]}/invitations`, { email });
    return mailedLink(server, email, "invitations");
  };
});
after(async () => {
  await chromium?.end();
  await server?.end();
});

/** A page that shows what it shows of how one gets in here. */
const open = async (path) => {
  const page = await chromium.open("about:blank");
  await Promise.all([
    page.waitForResponse((answer) => answer.url().endsWith("/v1/auth/options")),
    page.goto(new URL(path, server.url).href),
  ]);
  await page.waitForFunction(() => document.querySelector("h1") && !document.querySelector(".waiting"));
  await settle(page);
  return page;
};
const shows = (page, selector) => page.isVisible(selector);

test("by invitation, the pages say so, and the invited sign up on either of them", async () => {
  await server.restart("auth.sign_up=invited");
  const start = await open("/");
  await start.waitForSelector("header >> text=Sign up");
  assert.equal(await shows(start, "#account"), false, "strangers are not told how to sign up");
  const login = await open("/login");
  await login.waitForSelector("text=No account yet?");

  await invite("cy@example.com");
  const signUp = await open("/signup");
  await signUp.waitForSelector("text=takes new accounts by invitation");
  await fill(signUp, { name: "Cy", email: "cy@example.com", password });
  await heading(signUp, "Read your mail");
  assert.equal(await shows(signUp, "text=takes new accounts by invitation"), false);
  await signUp.goto(await mailedLink(server, "cy@example.com", "verify-email"));
  await signUp.click("text=Confirm and sign in");
  await heading(signUp, "Welcome, Cy");

  const joining = await open(await invite("dora@example.com"));
  await fill(joining, { name: "Dora", password });
  await heading(joining, "Boards");
  assert.deepEqual([...start.complaints, ...signUp.complaints, ...joining.complaints], []);
});

test("while nobody may sign up, no page offers it, and who has an account signs in", async () => {
  const early = await open("/signup");
  const link = await invite("eve@example.com");
  await server.restart("auth.sign_up=off");
  const start = await open("/");
  await start.waitForSelector("header >> text=Sign in");
  for (const each of ["header >> text=Sign up", "#account"]) assert.equal(await shows(start, each), false, each);

  const signUp = await open("/signup");
  await signUp.waitForSelector("text=takes no new accounts from outside");
  for (const each of ["#signup", "#outside"]) assert.equal(await shows(signUp, each), false, each);
  await signUp.click("text=Sign in");
  await heading(signUp, "Sign in");
  assert.equal(await shows(signUp, "text=No account yet?"), false);
  await fill(signUp, { email: "cy@example.com", password });
  await heading(signUp, "Welcome, Cy");

  await fill(early, { email: "eve@example.com", password });
  await says(early, "takes no new accounts from outside");

  const invited = await open(link);
  await says(invited, "takes no new accounts from outside");
  assert.equal(await shows(invited, "#join"), false);
  await invited.click("#sign-in a");
  await fill(invited, { email: "cy@example.com", password });
  await says(invited, "which is another address");
  assert.deepEqual([...start.complaints, ...signUp.complaints, ...invited.complaints], []);
});

test("who was shut out is told so, by password and on the way back from a provider", async () => {
  await server.command("user", "disable", "cy@example.com");
  const page = await open("/login");
  await signIn(page, server, "cy@example.com");
  await says(page, "This account is disabled");
  const reasons = [
    ["account_disabled", "This account is disabled"],
    ["sign_up_closed", "takes no new accounts from outside"],
    ["account_conflict", "has an account already"],
  ];
  await slowDown(page, 6); // as on a phone, where React interrupts itself and begins again
  for (const [reason, words] of [...reasons, ...reasons]) {
    await page.goto(`${server.url}/login?oauth_error=${reason}`);
    await says(page, words);
    assert.equal(new URL(page.url()).search, "");
  }
});

test("the start page leads to what the server has, and nowhere else", async () => {
  await server.restart("modules=mail,orgs,auth");
  const start = await open("/");
  const links = await start.$$eval("a", (all) => all.map((each) => each.getAttribute("href")));
  for (const path of new Set(links.filter((each) => each.startsWith("/")))) {
    const { status } = await fetch(server.url + path, { headers: { Accept: "text/html" } });
    assert.ok(status < 400, `${path}: ${status}`);
  }
  assert.ok(!links.includes("/docs") && !links.includes("/boards"));
});
