// The pages around signing in, as a person goes through them: the pages and the script that the
// server serves, in a document that has no more than they ask for.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import vm from "node:vm";

import { Server } from "./support/server.mjs";

const email = "ada@example.com";
const password = "correct horse battery";
const other = "another horse entirely";
let server;

before(async () => {
  server = await Server.start();
});
after(() => server?.end());

class Form {
  #submit;
  hidden;
  button = { disabled: false };

  constructor(tag, content) {
    this.id = /id="([^"]+)"/.exec(tag)[1];
    this.action = /action="([^"]+)"/.exec(tag)[1];
    this.hidden = / hidden/.test(tag);
    this.names = [...content.matchAll(/<input[^>]* name="([^"]+)"/g)].map(([, name]) => name);
    this.values = {};
  }
  getAttribute = (name) => this[name];
  querySelector = () => this.button;
  addEventListener(kind, listener) {
    this.#submit = listener;
  }
  submit(values) {
    this.values = values;
    assert.deepEqual(Object.keys(values), this.names, "the fields that the page has");
    return this.#submit({ preventDefault() {} });
  }
}

/** A page that was opened, with its script run. */
async function open(address) {
  const url = new URL(address, server.url);
  const answer = await fetch(url);
  assert.equal(answer.status, 200, url.href);
  const html = await answer.text();
  const forms = [...html.matchAll(/(<form[^>]*>)([\s\S]*?)<\/form>/g)].map(
    ([, tag, content]) => new Form(tag, content),
  );
  const outcome = { parts: ["needs JavaScript"] };
  outcome.replaceChildren = (...parts) => (outcome.parts = parts);
  outcome.append = (...parts) => outcome.parts.push(...parts);
  const page = { forms, outcome, shown: url.pathname + url.search };
  const [, script] = /<script src="(\/account[^"]+)"/.exec(html);
  vm.runInNewContext(await (await fetch(new URL(script, url))).text(), {
    document: {
      forms,
      getElementById: (id) => (id === "outcome" ? outcome : null),
      createElement: () => ({}),
    },
    location: url,
    history: { replaceState: (state, title, path) => (page.shown = path) },
    fetch: (path, options) => fetch(new URL(path, url), options),
    FormData: class {
      constructor(form) {
        this.entries = Object.entries(form.values);
      }
      [Symbol.iterator] = () => this.entries[Symbol.iterator]();
    },
    URLSearchParams,
  });
  page.says = () => outcome.parts.map((part) => part.textContent ?? part).join("");
  page.leadsTo = () => outcome.parts.find((part) => part.href)?.href;
  page.form = forms.find((form) => !form.hidden);
  return page;
}

/** The link in the newest mail that has one to this page. */
async function mailedLink(page) {
  for (let tries = 0; tries < 100; tries += 1) {
    const found = new RegExp(`http\\S+/${page}\\?token=[\\w-]+`).exec(await server.mailTo(email));
    if (found) return found[0];
    await sleep(50);
  }
  throw new Error(`no link to ${page} was mailed`);
}

const post = (path, body) =>
  fetch(server.url + path, {
    method: "POST",
    headers: { "X-Board-Version": "2026-06-19", "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

test("the link of a sign-up confirms the address with one press", async () => {
  assert.equal((await post("/v1/auth/signup", { email, password })).status, 201);
  const page = await open(await mailedLink("verify-email"));
  assert.equal(page.shown, "/verify-email", "the token is out of the history");
  await page.form.submit({});
  assert.match(page.says(), /ada@example\.com is signed in/);
  assert.equal(page.form.hidden, true);

  const again = await open(await mailedLink("verify-email"));
  await again.form.submit({});
  assert.match(again.says(), /has been used/);
});

test("a link that is not whole offers nothing to press", async () => {
  const page = await open("/verify-email");
  assert.equal(page.form, undefined);
  assert.match(page.says(), /not whole/);
});

test("a forgotten password is asked for, and another chosen by the mailed link", async () => {
  const asking = await open("/reset-password");
  assert.equal(asking.form.id, "ask");
  await asking.form.submit({ email });
  assert.match(asking.says(), /on its way/);

  const link = await mailedLink("reset-password");
  const choosing = await open(link);
  assert.equal(choosing.form.id, "reset");
  assert.equal(choosing.shown, "/reset-password", "the token is out of the history");
  await choosing.form.submit({ new_password: other });
  assert.match(choosing.says(), /holds from now on/);
  assert.equal(choosing.leadsTo(), "/login");

  const again = await open(link);
  await again.form.submit({ new_password: password });
  assert.match(again.says(), /has been used/);
  assert.equal(again.form.hidden, false);
});

test("the page answers alike for an address without an account", async () => {
  const known = await open("/reset-password");
  await known.form.submit({ email });
  const unknown = await open("/reset-password");
  await unknown.form.submit({ email: "nobody@example.com" });
  assert.equal(unknown.says(), known.says());
});

test("the log-in page takes the new password and says what is wrong with the old", async () => {
  const page = await open("/login?token=stray");
  await page.form.submit({ email, password });
  assert.match(page.says(), /do not go together/);
  assert.equal(page.form.button.disabled, false);
  await page.form.submit({ email, password: other });
  assert.match(page.says(), /is signed in/);
});
