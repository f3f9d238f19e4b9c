// Every page that the server has, in each state that people meet: for what holds of all of them.
import { setTimeout as sleep } from "node:timers/promises";

export const password = "correct horse battery";

/** The link to a page of ours in the newest mail to this address. */
export async function mailedLink(server, address, path) {
  for (let tries = 0; tries < 100; tries += 1) {
    const mail = (await server.mailTo(address)).replace(/=\r?\n/g, "").replace(/=3D/g, "=");
    const found = new RegExp(`http\\S+/${path}[\\w/-]*\\?token=[\\w-]+`).exec(mail);
    if (found) return found[0];
    await sleep(50);
  }
  throw new Error(`no link to ${path} was mailed to ${address}`);
}

/** Waits for the page to have this heading. */
export const heading = (page, text) => page.waitForSelector(`h1:has-text(${JSON.stringify(text)})`);
/** Waits for the page to say this below its forms. */
export const says = (page, text) => page.waitForSelector(`#outcome:has-text("${text}")`);

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
  const open = await owner.post(`/v1/boards/${board.id}/share-links`, {});
  const locked = await owner.post(`/v1/boards/${board.id}/share-links`, { password: "open sesame" });
  return { board, card, open: open.url, locked: locked.url };
}

async function confirmedElsewhere(server, email) {
  const headers = { "X-Board-Version": "2026-06-19", "Content-Type": "application/json" };
  await fetch(server.url + "/v1/auth/signup", { method: "POST", headers, body: JSON.stringify({ email, password }) });
  return mailedLink(server, email, "verify-email");
}

/**
 * Steps to every page: { name, go }. `go(page)` leads a page to it; `signedIn` says that it takes a
 * browser that Ada has signed in with. `owner` is her, by `makeWorkspace(server)`.
 */
export async function everyPage(server, owner) {
  const { board, card, open, locked } = await furnish(owner);
  const org = owner.headers["X-Svc-Org"];
  const invite = async (email) => {
    await owner.post(`/v1/orgs/${org}/invitations`, { email, message: "See you there.\nAda" });
    return mailedLink(server, email, "invitations");
  };
  const invitation = await invite("bob@example.com");
  const toGo = (path, wait) => async (page) => {
    await page.goto(new URL(path, server.url).href);
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
    { name: "board as a list", signedIn: true, go: toGo(`/boards/${board.id}?view=list`, (page) => page.waitForSelector("[data-row]")) },
    { name: "board as a calendar", signedIn: true, go: toGo(`/boards/${board.id}?view=calendar`, (page) => page.waitForSelector(".calendar td")) },
    { name: "board, a column's dialog", signedIn: true, go: toGo(`/boards/${board.id}`, async (page) => {
      await page.click(".column >> nth=0 >> [aria-haspopup]");
      await page.click("text=Change the column…");
      await page.waitForSelector(".dialog form");
    }) },
    { name: "keys", signedIn: true, go: toGo("/boards", async (page) => {
      await page.waitForSelector(".board-card");
      await page.keyboard.press("?");
      await page.waitForSelector(".keys");
    }) },
    { name: "palette", signedIn: true, go: toGo("/boards", async (page) => {
      await page.waitForSelector(".board-card");
      await page.keyboard.press("Control+k");
      await page.fill("[role=combobox]", "board");
      await page.waitForSelector("[role=option]");
    }) },
    { name: "card", signedIn: true, go: toGo(`/cards/${card.id}`, (page) => page.waitForSelector(".editor .whole.table")) },
    { name: "card, its history", signedIn: true, go: toGo(`/cards/${card.id}`, async (page) => {
      await page.click("#tab-history");
      await page.waitForSelector(".happening");
    }) },
    ...["inbox", "feedback", "queues", "agents", "members", "webhooks", "automations", "outbox", "audit", "trash", "account"].map((path) => ({
      name: path, signedIn: true, go: toGo(`/${path}`, (page) => page.waitForSelector(".page-body .panel, .page-body form")),
    })),
    { name: "no board", signedIn: true, go: toGo("/boards/01890000-0000-7000-8000-000000000000", (page) => heading(page, "Nothing here")) },
    { name: "shared board", go: toGo(open, (page) => page.waitForSelector(".shared-column .card")) },
    { name: "shared board, password", go: toGo(locked, (page) => heading(page, "This link has a password")) },
    { name: "shared card", go: toGo(`${open}#${card.id}`, (page) => page.waitForSelector(".written table")) },
    { name: "no shared board", go: toGo("/shared/sl_nothing", (page) => heading(page, "Nothing here")) },
    { name: "nowhere", go: toGo("/nowhere/at/all", (page) => heading(page, "Nothing here")) },
    { name: "reference", go: toGo("/docs", (page) => page.waitForSelector(".opblock")) },
  ];
}
