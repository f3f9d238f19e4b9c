// A board, or one card, to read: by a share link (/shared/…), or for whoever is signed in
// (/boards/…, /cards/…).
const view = document.getElementById("view");
const kind = location.pathname.split("/")[1];
const isShared = kind === "shared";
let password;  // of the share link, as long as the page is open
let workspace; // that the board is in

// ------------------------------------------------------------------------------- reading

function read(path) {
  const headers = isShared ? { ...(password && { "X-Svc-Share-Password": password }) } : { ...(workspace && { "X-Svc-Org": workspace }) };
  return call("GET", path, { headers });
}

/** Of a board that is not in the session's workspace, the address does not say where it is: the
    person's hundred oldest workspaces are asked in turn. */
async function readAnywhere(path) {
  const answer = await read(path);
  if (isShared || answer.status !== 404) return answer;
  const seats = await call("GET", "/v1/me/memberships?page_size=100");
  for (const { org_id } of seats.ok ? seats.body.results : []) {
    workspace = org_id;
    const elsewhere = await read(path);
    if (elsewhere.status !== 404) return elsewhere;
  }
  workspace = undefined;
  return answer;
}

const id = encodeURIComponent(lastPart);
const more = (cursor) => (cursor ? `&start_cursor=${encodeURIComponent(cursor)}` : "");
const boardPath = (cursor) =>
  (isShared ? `/v1/shared/${id}?page_size=50` : `/v1/boards/${id}/snapshot?page_size=50`) + more(cursor);

// ----------------------------------------------------------------------------- showing parts

const when = (time) => {
  if (!time) return undefined;
  const shown = time.length === 10 ? new Date(time + "T00:00") : new Date(time);
  return make("time", { dateTime: time },
    time.length === 10 ? shown.toLocaleDateString(undefined, { dateStyle: "medium" }) : shown.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }));
};

const labelled = (label) => make("span", { className: `label ${label.color ?? ""}` }, label.name);

/** The value of a property in words; nothing when it is empty. */
function worded(value) {
  if (value === null || value === undefined || value === "") return undefined;
  if (Array.isArray(value)) {
    const words = value.map((each) => each.plain_text ?? worded(each)).filter(Boolean);
    return words.join(value.some((each) => each.plain_text !== undefined) ? "" : ", ") || undefined;
  }
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") {
    if (value.start) return value.end ? `${value.start} – ${value.end}` : value.start;
    return value.name ?? value.id;
  }
  return String(value);
}

function facts(card) {
  const rows = [
    ["Assigned to", worded(card.assignees)],
    ["Due", when(card.due)],
    ["Start", when(card.start)],
    ["Priority", card.priority === "none" ? undefined : card.priority],
    ["Estimate", worded(card.estimate)],
    ["Completed", when(card.completed_at)],
    ...Object.entries(card.properties ?? {}).map(([name, value]) => [name, worded(value[value.type])]),
  ].filter(([, value]) => value !== undefined);
  return rows.length
    ? make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]))
    : undefined;
}

function tile(card) {
  const href = isShared ? `#${card.id}` : `/cards/${card.id}`;
  const small = [when(card.due), worded(card.assignees)].filter(Boolean);
  return make(
    "li", { className: "card" },
    make("span", { className: "key" }, card.key),
    make("a", { href }, card.title),
    card.labels.length ? make("span", { className: "labels" }, ...card.labels.map(labelled)) : undefined,
    small.length ? make("span", { className: "key" }, ...small.flatMap((each, at) => (at ? [" · ", each] : [each]))) : undefined,
  );
}

function column(shown) {
  const cards = make("ul", { className: "cards" }, ...shown.cards.map(tile));
  const button = make("button", { type: "button", className: "other", hidden: !shown.next_cursor }, "Show more");
  let cursor = shown.next_cursor;
  button.addEventListener("click", async () => {
    button.disabled = true;
    const { ok, body } = await read(boardPath(cursor)).catch(() => ({}));
    button.disabled = false;
    const next = ok && body.columns.find((each) => each.id === shown.id);
    if (!next) return say(noAnswer);
    const added = next.cards.map(tile);
    cards.append(...added);
    cursor = next.next_cursor;
    button.hidden = !cursor;
    added[0]?.querySelector("a").focus();
  });
  const heading = `column-${shown.id}`;
  return make(
    "section", { className: "column", "aria-labelledby": heading },
    make("h2", { id: heading }, shown.name, " ", make("span", { className: "count" }, String(shown.card_count))),
    shown.cards.length ? cards : make("p", { className: "note" }, "No cards."),
    button,
  );
}

function showBoard(board, columns) {
  turnTo(board.icon?.emoji ? `${board.icon.emoji} ${board.name}` : board.name);
  say(board.description ?? "");
  view.replaceChildren(make("div", { className: "columns", tabIndex: 0, role: "region", ariaLabel: "Columns" }, ...columns.map(column)));
}

async function imageAddress(file) {
  const { ok, body } = await read(`/v1/files/${encodeURIComponent(file)}`);
  if (!ok || !body.url) return undefined;
  const url = new URL(body.url, location.href);
  // Under whatever name this server was reached.
  return url.pathname.startsWith("/v1/") ? url.pathname + url.search : url.href;
}

function showCard(card, body, back) {
  turnTo(card.title);
  say(back ?? "", back ? " · " : "", make("span", { className: "key" }, card.key));
  const written = body ? markdown(body, isShared ? undefined : imageAddress) : [make("p", { className: "note" }, "Nothing is written on this card.")];
  view.replaceChildren(...[
    card.labels.length ? make("p", { className: "labels" }, ...card.labels.map(labelled)) : undefined,
    facts(card),
    make("article", { className: "written" }, ...written),
  ].filter(Boolean));
}

// ------------------------------------------------------------------------------ what is asked for

function refuse({ status, body }) {
  view.replaceChildren();
  if (isShared && status === 403) {
    turnTo("This link has a password");
    say(password ? "That is not the link's password." : "Whoever gave you the link knows it.");
    show("unlock");
    return document.getElementById("password").focus();
  }
  turnTo(status === 404 ? "Nothing here" : "This cannot be shown");
  if (status === 429) return say("This was asked for too often; try again in some minutes.");
  if (status !== 404) return say(body.message);
  say(isShared
    ? "There is no such link. It was withdrawn, or has run out, or is incomplete."
    : "There is no such thing, or it is not for you to see. ", isShared ? "" : make("a", { href: "/boards" }, "Your boards"));
}

async function openShared() {
  const only = /^#([\w-]{36})$/.exec(location.hash)?.[1];
  const answer = await read(`/v1/shared/${id}?page_size=50${only ? `&card_id=${only}` : ""}`);
  if (!answer.ok) return refuse(answer);
  show("unlock", false);
  const { body } = answer;
  const cards = body.columns.flatMap((each) => each.cards);
  const isCard = only || (cards.length === 1 && cards[0].markdown !== null && cards[0].markdown !== undefined);
  if (!isCard) return showBoard(body, body.columns);
  const back = only ? make("a", { href: location.pathname }, body.name) : undefined;
  back?.addEventListener("click", (event) => {
    event.preventDefault();
    location.hash = "";
  });
  showCard(cards[0], cards[0].markdown, back);
}

async function openBoard() {
  const answer = await readAnywhere(boardPath());
  if (!answer.ok) return refuse(answer);
  showBoard(answer.body.board ?? answer.body, answer.body.columns);
}

async function openCard() {
  const answer = await readAnywhere(`/v1/cards/${id}`);
  if (!answer.ok) return refuse(answer);
  const text = await read(`/v1/cards/${id}/markdown`);
  const back = make("a", { href: `/boards/${answer.body.board_id}` }, "The board");
  showCard(answer.body, text.ok ? text.body.markdown : "", back);
}

const openers = { shared: openShared, boards: openBoard, cards: openCard };

async function open() {
  say("One moment…");
  if (!isShared && !(await whoIsHere())) return location.replace(`/login?return_to=${encodeURIComponent(location.pathname)}`);
  await openers[kind]();
}

on(document.getElementById("unlock"), async (form) => {
  password = form.elements.password.value;
  form.reset();
  await openShared();
});
addEventListener("hashchange", async () => {
  await open().catch(() => say(noAnswer));
  heading.focus();
});
open().catch(() => say(noAnswer));
