// What the small pages share. Whatever comes from the server is put in as text, never as HTML.
const outcome = document.getElementById("outcome");
const heading = document.querySelector("h1");

function cookie(name) {
  const pair = document.cookie.split("; ").find((each) => each.startsWith(name + "="));
  return pair && decodeURIComponent(pair.slice(name.length + 1));
}

/** One call of the interface: { ok, status, body }. */
async function call(method, path, { body, headers } = {}) {
  const csrf = cookie("svc_csrf");
  const answer = await fetch(path, {
    method,
    headers: {
      "X-Board-Version": "2026-06-19",
      Accept: "application/json",
      ...(body && { "Content-Type": "application/json" }),
      ...(csrf && method !== "GET" && { "X-CSRF-Token": csrf }),
      ...headers,
    },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  return { ok: answer.ok, status: answer.status, body: text ? JSON.parse(text) : {} };
}

let options;
/** What this server lets strangers do: { sign_up, password, identity_provider }. Asked for once. */
const optionsHere = () =>
  (options ??= call("GET", "/v1/auth/options").then(({ ok, body }) => (ok ? body : {}), () => ({})));

/** Hides what leads to a sign-up that this server does not take; `data-sign-up` says by which policy
    it still does. */
async function hideClosedSignUp() {
  const { sign_up: policy = "open" } = await optionsHere();
  for (const each of document.querySelectorAll("[data-sign-up]"))
    if (policy === "off" || (policy === "invited" && each.dataset.signUp === "open")) each.hidden = true;
}

/** Whoever this browser is signed in as, if anybody. */
async function whoIsHere() {
  if (!cookie("svc_csrf")) return undefined;
  const { ok, body } = await call("GET", "/v1/me");
  return ok ? body : undefined;
}

/** An element with text and elements in it. */
function make(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null) continue;
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((each) => each !== undefined && each !== null && each !== ""));
  return made;
}

/** What the page says below its forms. */
function say(...words) {
  outcome.replaceChildren(...words);
}

/** The page is about something else now. */
function turnTo(title) {
  heading.textContent = title;
  document.title = `${title} – Workboard`;
}

function show(id, visible = true) {
  const element = document.getElementById(id);
  if (element) element.hidden = !visible;
}

/** Where to go after signing in: a path of this server, and nothing else. */
function returnPath() {
  const to = new URLSearchParams(location.search).get("return_to");
  return to && /^\/[^/\\]/.test(to) ? to : undefined;
}

const noAnswer = "The server does not answer; try again.";

/** Runs `work` whenever the button is pressed, or the form sent, one at a time. */
function on(element, work) {
  if (!element) return;
  const isForm = element.tagName === "FORM";
  const button = isForm ? element.querySelector("button") : element;
  element.addEventListener(isForm ? "submit" : "click", async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    say("One moment…");
    await work(element).catch(() => say(noAnswer));
    button.disabled = false;
  });
}

async function signOut() {
  await call("POST", "/v1/auth/logout");
}

/** What the address of a view of ours ends in. */
const lastPart = decodeURIComponent(location.pathname.split("/").pop());

const day = (time) => new Date(time).toLocaleDateString(undefined, { dateStyle: "long" });
