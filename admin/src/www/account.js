// The pages around signing in. Each has a form that names the call it makes; where there are two,
// one is for those who come by a mailed link and one for those who do not.
const token = new URLSearchParams(location.search).get("token");
const forms = [...document.forms];
const form = forms.find(({ id }) => !token === (id === "ask")) ?? forms[0];
const outcome = document.getElementById("outcome");
// What a link carries is for one use; it should not stay in the history.
if (token) history.replaceState(null, "", location.pathname);

const refusals = {
  verify: {
    422: "This link has been used or has run out. If the address is not confirmed yet, sign up once more.",
  },
  ask: {
    422: "That is not an address.",
    429: "That was too often; wait some minutes.",
  },
  reset: {
    422: "This link has been used or has run out, or the password is too short or too long.",
  },
  login: {
    401: "That address and password do not go together.",
    403: "The address is not confirmed yet: open the link in the mail first.",
    422: "That is not an address and a password.",
    429: "That was too often; wait some minutes.",
  },
};

function say(text, label, href) {
  outcome.replaceChildren(text);
  if (!href) return;
  const link = document.createElement("a");
  link.href = href;
  link.textContent = label;
  outcome.append(" ", link);
}

const outcomes = {
  ask: () => say("If the address has an account, the link is on its way to it."),
  reset: () => say("The new password holds from now on.", "Sign in with it", "/login"),
};

async function send() {
  const body = Object.fromEntries(new FormData(form));
  if (token && form.id !== "login") body.token = token;
  const answer = await fetch(form.getAttribute("action"), {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Board-Version": "2026-06-19" },
    body: JSON.stringify(body),
  });
  const { user, message } = answer.status === 204 ? {} : await answer.json();
  if (!answer.ok) return say(refusals[form.id][answer.status] ?? message);
  form.hidden = true;
  if (outcomes[form.id]) return outcomes[form.id]();
  say(`${user.email} is signed in, in this browser.`, "On to the API", "/docs");
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  say("One moment…");
  await send().catch(() => say("The server does not answer; try again."));
  button.disabled = false;
});

say("");
if (form.id === "verify" && !token) say("The link is not whole: copy all of it from the mail.");
else form.hidden = false;
