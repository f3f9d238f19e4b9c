// Every page that the server has, in each state that people meet: for what holds of all of them.
import { Rest, makeQueue } from "./server.mjs";
import { deferred, until } from "./until.mjs";

export const password = "correct horse battery";

/** The link to a page of ours in the newest mail to this address. */
export async function mailedLink(server, address, path) {
  const link = await until(async () => {
    const mail = (await server.mailTo(address)).replace(/=\r?\n/g, "").replace(/=3D/g, "=");
    return new RegExp(`http\\S+/${path}[\\w/-]*\\?token=[\\w-]+`).exec(mail)?.[0];
  }, 60);
  if (!link) throw new Error(`no link to ${path} was mailed to ${address}`);
  return link;
}

/** Waits for the page to have this heading. */
export const heading = (page, text) => page.waitForSelector(`h1:has-text(${JSON.stringify(text)})`);
/** Waits for the page to say this below its forms. */
export const says = (page, text) => page.waitForSelector(`.outcome:has-text("${text}")`);

/** Waits until what the page shows has settled, and it takes keys. */
export const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));

/** Requests to that address are sent when what is returned is called. */
export async function holdBack(page, address, options) {
  const { promise, resolve } = deferred();
  await page.route(address, (route) => promise.then(() => route.continue()), options);
  return resolve;
}

/** Has the page's scripts run that many times as slowly. */
export async function slowDown(page, rate) {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate });
}

/** Fills in the form of a page for those who come from outside, and sends it. */
export async function fill(page, values) {
  for (const [name, value] of Object.entries(values)) await page.fill(`main form input[name=${name}]`, value);
  await page.press("main form input[name=" + Object.keys(values).at(-1) + "]", "Enter");
}

export async function signIn(page, server, email, word = password) {
  await page.goto(server.url + "/login");
  await fill(page, { email, password: word });
}

/** Signs in, and waits for the list of boards. */
export async function enter(page, server, email, word) {
  await signIn(page, server, email, word);
  await heading(page, "Boards");
}

/** Tabs on until what has the focus is called so (a text, or a pattern); by keys alone, as some people do. */
export async function tabTo(page, name, key = "Tab") {
  const seen = [];
  for (const end = Date.now() + 20_000; Date.now() < end;) { // the list may be on its way
    const found = await page.evaluate(() => {
      const { activeElement: it } = document;
      const named = it.getAttribute("aria-labelledby");
      const words = it.getAttribute("aria-label") ?? (named && document.getElementById(named)?.textContent) ?? it.labels?.[0]?.textContent ?? it.textContent;
      return it === document.body ? "" : words.trim();
    });
    if (typeof name === "string" ? found === name : name.test(found)) return;
    seen.push(found.slice(0, 40));
    await page.keyboard.press(key);
  }
  throw new Error(`no Tab leads to ${name}, but to ${[...new Set(seen)].join(" | ")}`);
}

/** Waits until it is so, and says what was found when it never is. */
export async function becomes(what, fits, seconds = 30) {
  let found;
  if (await until(async () => fits((found = await what())), seconds)) return found;
  throw new Error(`it never came true: ${fits}; found ${JSON.stringify(found)}`);
}

/** What a route is fulfilled with to have the page's call refused. */
export const refusal = (status, code, message = "Not now.") => ({ status, json: { object: "error", status, code, message } });

/** A picture of one colour, as bytes. */
export const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGMQyfDCihiGlgQASmUxgX6WeOEAAAAASUVORK5CYII=",
  "base64",
);

/** Pastes files where the focus is, as the browser does with what is in the clipboard. */
export const pasteFiles = (page, selector, files) =>
  page.evaluate(([where, all]) => {
    const data = new DataTransfer();
    for (const { name, type, base64 } of all)
      data.items.add(new File([Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))], name, { type }));
    document.querySelector(where).dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, [selector, files.map(({ name, type, bytes }) => ({ name, type, base64: Buffer.from(bytes).toString("base64") }))]);

/** The same, dropped by a pointer. */
export const dropFiles = (page, selector, files) =>
  page.evaluate(([where, all]) => {
    const data = new DataTransfer();
    for (const { name, type, base64 } of all)
      data.items.add(new File([Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))], name, { type }));
    const place = document.querySelector(where);
    const { left, top, width, height } = place.getBoundingClientRect();
    for (const kind of ["dragenter", "dragover", "drop"])
      place.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true, clientX: left + width / 2, clientY: top + height / 2 }));
  }, [selector, files.map(({ name, type, bytes }) => ({ name, type, base64: Buffer.from(bytes).toString("base64") }))]);

/** A call of the interface, as the browser's session: { status, body }. */
export const callFrom = (page, method, path, body, headers = {}) =>
  page.evaluate(async ([how, where, what, more]) => {
    const csrf = /(?:^|; )svc_csrf=([^;]*)/.exec(document.cookie)?.[1];
    const answer = await fetch(where, {
      method: how,
      headers: { "X-Board-Version": "2026-06-19", ...(what && { "Content-Type": "application/json" }), ...(csrf && { "X-CSRF-Token": decodeURIComponent(csrf) }), ...more },
      body: what && JSON.stringify(what),
    });
    const text = await answer.text();
    return { status: answer.status, body: text ? JSON.parse(text) : {} };
  }, [method, path, body, headers]);

const markdown = [
  "# Plan",
  "",
  "**bold**, *slanted*, `code` and [a link](https://example.com/).",
  "",
  "- [x] done",
  "- [ ] to do",
  "  - within",
  "",
  "1. one",
  "2. two",
  "",
  "> quoted",
  "",
  "> [!NOTE]",
  "> a callout",
  "",
  "| Part | Weight |",
  "|---|---|",
  "| a fairly long name of a part | 1 |",
  "",
  "```sh",
  "curl https://example.com/",
  "```",
  "",
  "<details>",
  "<summary>More</summary>",
  "",
  "Hidden words",
  "</details>",
  "",
  "---",
  "",
  "![a picture](https://example.com/a.png)",
].join("\n");

/** Attaches a picture to the card. */
async function attach(owner, card) {
  const form = await owner.post("/v1/files:presign", { filename: "teapot, from the left, in the evening light.png", content_type: "image/png" });
  const body = new FormData();
  for (const [name, value] of Object.entries(form.upload_url_fields)) body.append(name, value);
  body.append("file", new Blob([picture]), "teapot.png");
  await fetch(form.upload_url, { method: "POST", body });
  await owner.post(`/v1/files/${form.id}:commit`);
  await owner.post(`/v1/cards/${card.id}/attachments`, { file_id: form.id });
}

/** A board as people have them, and the links to it, made by Ada of `makeWorkspace`. */
async function furnish(owner) {
  const board = await owner.post("/v1/boards", { name: "Deliveries", description: "What leaves the house, and when." });
  const columns = (await owner.get(`/v1/boards/${board.id}/columns`)).results;
  const colors = ["default", "gray", "brown", "orange", "yellow", "green", "blue", "purple", "pink", "red"];
  const labels = [];
  for (const color of colors) labels.push(await owner.post(`/v1/boards/${board.id}/labels`, { name: `is ${color}`, color }));
  const card = await owner.post(`/v1/boards/${board.id}/cards`, {
    column_id: columns[0].id,
    title: "Pack the teapot, and a title that is long enough to need a second line on a phone",
    markdown,
    labels: labels.map(({ id }) => id),
    due: "2026-12-24",
    priority: "high",
    estimate: 3,
  });
  for (const title of ["Two umbrellas", "A grand piano"])
    await owner.post(`/v1/boards/${board.id}/cards`, { column_id: columns[1].id, title });
  await attach(owner, card);
  const lamp = await owner.post(`/v1/boards/${board.id}/cards`, { column_id: columns[0].id, title: "A lamp" });
  await owner.send("DELETE", `/v1/cards/${lamp.id}`);
  const open = await owner.post(`/v1/boards/${board.id}/share-links`, {});
  const locked = await owner.post(`/v1/boards/${board.id}/share-links`, { password: "open sesame" });
  return { board, card, open: open.url, locked: locked.url };
}

/** A queue as it is in the middle of a day: cards that wait, that an agent works on, that need somebody. */
async function employ(owner, server) {
  const { board_id, column_id } = await makeQueue(owner, ["Descale the kettle", "Too hard for anybody, with a title that takes its time to say so", "Sharpen the knives", "Count the spoons"]);
  const agent = await owner.post("/v1/agents", { name: "Kitchen worker of the night shift", description: "Cleans, sharpens and counts.", budgets: { requests_per_day: 1_000, max_leases: 2 } });
  const { token } = await owner.post("/v1/tokens", { kind: "agent", agent_id: agent.id, name: "First token" });
  const worker = new Rest(server, { Authorization: `Bearer ${token}` });
  // What it held until now, as it is written down: it filled up in the morning, and was worked off since.
  await server.sql(`
    INSERT INTO queue_depths (org_id, column_id, at, ready, blocked, leased, backoff, exhausted, held)
    SELECT '${owner.headers["X-Svc-Org"]}', '${column_id}', date_bin('10 minutes', now(), '2000-01-01') - at * interval '10 minutes',
        greatest(0, round(14 - abs(at - 60) * 0.28)), 1, 2 * (at % 3) / 2, (at % 17) / 15, (143 - at) / 60, 0
    FROM generate_series(1, 143) AS at`);
  const claim = () => worker.post(`/v1/boards/${board_id}/columns/${column_id}:claim-next`, {});
  const first = await claim();
  await worker.post(`/v1/leases/${first.lease.id}:complete`, { lease_token: first.lease_token, cost: { amount: 0.42, currency: "USD", input_tokens: 41_000, output_tokens: 1_900 } });
  const { lease, lease_token } = await claim();
  await worker.post(`/v1/leases/${lease.id}:fail`, { lease_token, error: "No tool in the drawer fits", retryable: false });
  await claim();
  const webhook = await owner.post("/v1/webhooks", { url: "https://example.com/hooks", name: "The shop", events: ["card.*", "lease.failed"] });
  return { agent, webhook };
}

/** Goes on within the console as its links do, when the page is one of its with nothing open; whether it was. */
async function goWithin(page, pathname, href) {
  const goes = await page.evaluate(([to, address]) => {
    const isBusy = document.querySelector(".overlay, .popover, .grabbed, .bulk") !== null;
    if (!document.querySelector(".shell") || isBusy || location.pathname === to || /^\/(docs|shared|invitations|nowhere)/.test(to)) return false;
    for (const each of document.querySelectorAll("#main > *")) each.setAttribute("data-old", "");
    history.pushState(null, "", address);
    return true;
  }, [pathname, href]);
  if (goes) await page.waitForSelector("#main > [data-old]", { state: "detached" });
  return goes;
}

async function confirmedElsewhere(server, email) {
  const headers = { "X-Board-Version": "2026-06-19", "Content-Type": "application/json" };
  await fetch(server.url + "/v1/auth/signup", { method: "POST", headers, body: JSON.stringify({ email, password }) });
  return mailedLink(server, email, "verify-email");
}

/** The address to which a client that has registered sends a person. */
export async function consentPath(server, redirect_uri = "https://client.example/callback") {
  const answer = await fetch(server.url + "/oauth/register", {
    method: "POST",
    body: JSON.stringify({ client_name: "A client with a rather long name", redirect_uris: [redirect_uri] }),
  });
  const { client_id } = await answer.json();
  return "/oauth/authorize?" + new URLSearchParams({
    client_id, redirect_uri, response_type: "code", state: "x",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256",
  });
}

/**
 * Steps to every page: { name, go }. `go(page)` leads a page to it; `signedIn` says that it takes a
 * browser that Ada has signed in with, `fresh` that of somebody whose workspace is empty. `owner` is her, by `makeWorkspace(server)`.
 */
export async function everyPage(server, owner) {
  const { board, card, open, locked } = await furnish(owner);
  const { agent, webhook } = await employ(owner, server);
  const org = owner.headers["X-Svc-Org"];
  const invite = async (email) => {
    await owner.post(`/v1/orgs/${org}/invitations`, { email, message: "See you there.\nAda" });
    return mailedLink(server, email, "invitations");
  };
  const invitation = await invite("zoe@example.com");
  const toGo = (path, wait) => async (page) => {
    const { href, pathname } = new URL(path, server.url);
    if (!(await goWithin(page, pathname, href))) await page.goto(href);
    await wait?.(page);
  };
  return [
    { name: "start", go: toGo("/") },
    { name: "sign up", go: toGo("/signup", (page) => page.waitForSelector("#signup")) },
    {
      name: "sign up, mailed",
      go: async (page) => {
        await page.goto(server.url + "/signup");
        await fill(page, { name: "Grace", email: `grace-${Date.now()}@example.com`, password });
        await heading(page, "Read your mail");
      },
    },
    { name: "log in", go: toGo("/login", (page) => page.waitForSelector("#login")) },
    {
      name: "log in, refused",
      go: async (page) => {
        await signIn(page, server, "ada@example.com", "not the password");
        await says(page, "do not go together");
      },
    },
    { name: "reset password, ask", go: toGo("/reset-password", (page) => page.waitForSelector("#ask")) },
    { name: "reset password, choose", go: toGo("/reset-password?token=x", (page) => page.waitForSelector("#reset")) },
    { name: "verify email", go: toGo("/verify-email?token=x", (page) => page.waitForSelector("#verify")) },
    { name: "verify email, incomplete", go: toGo("/verify-email", (page) => says(page, "incomplete")) },
    {
      name: "first password",
      go: async (page) => {
        await page.goto(await confirmedElsewhere(server, `lin-${Date.now()}@example.com`));
        await page.click("text=Confirm and sign in");
        await heading(page, "Choose a password");
      },
    },
    { name: "invitation", go: toGo(invitation, (page) => heading(page, "Join Acme")) },
    { name: "invitation of another, signed in", signedIn: true, go: toGo(invitation, (page) => says(page, "which is another address")) },
    { name: "no invitation", go: toGo(invitation.replace(/token=.*/, "token=wrong"), (page) => heading(page, "No such invitation")) },
    { name: "boards", signedIn: true, go: toGo("/boards", (page) => page.waitForSelector(".board-card")) },
    { name: "board", signedIn: true, go: toGo(`/boards/${board.id}`, (page) => page.waitForSelector(".tile")) },
    { name: "board, a card picked up by keys", signedIn: true, go: toGo(`/boards/${board.id}`, async (page) => {
      await page.focus(".tile[tabindex='0']");
      await page.keyboard.press("Space");
      await page.waitForSelector("li.grabbed");
    }) },
    { name: "board, cards selected", signedIn: true, go: toGo(`/boards/${board.id}`, async (page) => {
      await page.focus(".tile[tabindex='0']");
      await page.keyboard.press("x");
      await page.waitForSelector(".bulk");
    }) },
    { name: "board in lanes", signedIn: true, go: toGo(`/boards/${board.id}?view=lanes&by=priority`, (page) => page.waitForSelector(".lane .tile")) },
    { name: "board as a list", signedIn: true, go: toGo(`/boards/${board.id}?view=list`, (page) => page.waitForSelector(".list-rows [data-card]")) },
    { name: "board as a calendar", signedIn: true, go: toGo(`/boards/${board.id}?view=calendar`, (page) => page.waitForSelector(".calendar td")) },
    { name: "board, a column's dialog", signedIn: true, go: toGo(`/boards/${board.id}`, async (page) => {
      await page.click(".column >> nth=0 >> [aria-haspopup]");
      await page.click("text=Edit the column…");
      await page.waitForSelector(".dialog form");
    }) },
    { name: "keys", signedIn: true, go: toGo("/boards", async (page) => {
      await page.waitForSelector(".board-card");
      await page.keyboard.press("?");
      await page.waitForSelector(".keys");
    }) },
    { name: "calls", signedIn: true, go: toGo("/boards", async (page) => {
      await page.waitForSelector(".board-card");
      for (const key of ["g", "c"]) await page.keyboard.press(key);
      await page.check(".dialog input[type=checkbox]");
      await page.click(".call summary");
      await page.waitForSelector(".call[open] .sample"); // others may have come before it meanwhile
    }) },
    { name: "palette", signedIn: true, go: toGo("/boards", async (page) => {
      await page.waitForSelector(".board-card");
      await page.keyboard.press("Control+k");
      await page.fill("[role=combobox]", "board");
      await page.waitForSelector("[role=option]");
    }) },
    { name: "card", signedIn: true, go: toGo(`/cards/${card.id}`, (page) => page.waitForSelector(".editor .whole.table")) },
    { name: "card as a page", signedIn: true, go: toGo(`/boards/${board.id}?card=${card.id}&as=page`, (page) => page.waitForSelector(".as-page .editor .whole.table")) },
    { name: "card, its history", signedIn: true, go: toGo(`/cards/${card.id}`, async (page) => {
      await page.click("#tab-history");
      await page.waitForSelector(".happening");
      await page.$eval(".card-panel", (panel) => panel.scrollTo(0, panel.scrollHeight)); // nothing is half below its head
    }) },
    ...["inbox", "feedback", "queues", "agents", "members", "webhooks", "automations", "outbox", "audit", "trash", "account"].map((path) => ({
      name: path, signedIn: true, go: toGo(`/${path}`, (page) => page.waitForSelector(".page-body .panel, .page-body form")),
    })),
    { name: "queues, a card to requeue", signedIn: true, go: toGo("/queues?", async (page) => {
      await page.click(".stuck button:text-is('Requeue…')");
      await page.waitForSelector(".dialog form");
    }) },
    { name: "agent", signedIn: true, go: toGo(`/agents/${agent.id}`, (page) => page.waitForSelector(".rights")) },
    { name: "webhook", signedIn: true, go: toGo(`/webhooks/${webhook.id}`, (page) => page.waitForSelector("text=Deliveries")) },
    { name: "webhook, a sample of what it is sent", signedIn: true, go: toGo("/webhooks?", async (page) => {
      await page.click("text=New webhook");
      await page.click(".sample-payload summary");
      await page.waitForSelector(".sample-payload .sample");
    }) },
    { name: "trash, what was deleted", signedIn: true, go: toGo("/trash?", async (page) => {
      await page.click("button:text-is('Trash')");
      await page.waitForSelector("td:has-text('A lamp')");
    }) },
    { name: "server", signedIn: true, go: toGo("/server", (page) => page.waitForSelector(".panel-head [role=status]:has-text('Checked')")) },
    { name: "server, all numbers and settings", signedIn: true, go: toGo("/server?", async (page) => {
      await page.click(".all-numbers summary");
      await page.check("text=Defaults, too");
      await page.waitForSelector(".server-numbers dd");
    }) },
    ...["boards", "inbox", "queues", "agents", "webhooks", "automations", "outbox", "trash"].map((path) => ({
      name: `${path}, nothing yet`, fresh: true, go: toGo(`/${path}`, (page) => page.waitForSelector("#main h1")),
    })),
    { name: "connect a program", signedIn: true, go: toGo(await consentPath(server), (page) => page.waitForSelector("#consent")) },
    { name: "connect no program", signedIn: true, go: toGo("/oauth/authorize", (page) => heading(page, "This cannot be connected")) },
    { name: "no board", signedIn: true, go: toGo("/boards/01890000-0000-7000-8000-000000000000", (page) => heading(page, "Nothing here")) },
    { name: "shared board", go: toGo(open, (page) => page.waitForSelector(".shared-column .card")) },
    { name: "shared board, password", go: toGo(locked, (page) => heading(page, "This link has a password")) },
    { name: "shared card", go: toGo(`${open}#${card.id}`, (page) => page.waitForSelector(".written table")) },
    { name: "no shared board", go: toGo("/shared/sl_nothing", (page) => heading(page, "Nothing here")) },
    { name: "nowhere", go: toGo("/nowhere/at/all", (page) => heading(page, "Nothing here")) },
    { name: "reference", go: toGo("/docs", (page) => page.waitForSelector(".opblock")) },
  ];
}
