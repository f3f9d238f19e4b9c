// The pages around signing up and in. Each has forms that name the call they make.
const token = new URLSearchParams(location.search).get("token");
const forms = Object.fromEntries([...document.forms].map((form) => [form.id, form]));
// What a link carries is for one use; it should not stay in the history.
if (token) history.replaceState(null, "", location.pathname);

const refusals = {
  signup: {
    422: "Something is missing: an address, and a password of at least 8 characters.",
    429: "That was too often; wait some minutes.",
  },
  verify: {
    422: "This link has been used or has run out. If the address is not confirmed yet, sign up once more.",
  },
  first: {
    401: "The session is over; ask for a new password by mail.",
    422: "The password is too short or too long.",
  },
  ask: {
    422: "That is not an address.",
    429: "That was too often; wait some minutes.",
  },
  resend: {
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

function signedIn(words) {
  turnTo("You are signed in");
  say(words);
  show("onward");
  heading.focus();
}

/** What happens after each form went through. */
const outcomes = {
  signup() {
    turnTo("Read your mail");
    for (const id of ["by-invitation", "sign-in"]) show(id, false);
    say(
      `We have sent a mail to ${forms.signup.elements.email.value}. Open the link in it, in this browser, `
        + "to confirm the address and to sign in.",
    );
    forms.resend.hidden = false;
    heading.focus();
  },
  resend() {
    forms.resend.hidden = true;
    say(`Another mail is on its way to ${forms.signup.elements.email.value}.`);
  },
  verify({ user }) {
    if (user.has_password) return signedIn(`${user.email} is signed in, in this browser.`);
    turnTo("Choose a password");
    forms.first.elements.username.value = user.email;
    forms.first.hidden = false;
    say(`${user.email} is confirmed, and signed in, in this browser. `, make("a", { href: "/login" }, "Go on without a password"));
    forms.first.elements.new_password.focus();
  },
  first: () => signedIn("The password is set. From now on, sign in with it."),
  ask() {
    turnTo("Read your mail");
    say("If the address has an account, the link is on its way to it.");
    heading.focus();
  },
  reset() {
    turnTo("The password is changed");
    say("Use it from now on. ", make("a", { href: "/login" }, "Sign in with it"));
    heading.focus();
  },
  async login({ user }) {
    const to = returnPath();
    if (to) return location.assign(to);
    await greet(user);
    heading.focus();
  },
};

function fields(form) {
  const entries = [...new FormData(form)].filter(([name, value]) => name !== "username" && value !== "");
  return Object.fromEntries(entries);
}

function bodyOf(form) {
  if (form.id === "resend") return { email: forms.signup.elements.email.value };
  const body = fields(form);
  if (form.id === "verify" || form.id === "reset") body.token = token;
  return body;
}

async function send(form) {
  const { ok, status, body } = await call("POST", form.getAttribute("action"), { body: bodyOf(form) });
  if (!ok) {
    // The server's own word on what the operator has closed says more than ours.
    const closed = body.code === "sign_up_closed" || body.code === "account_disabled";
    say(closed ? body.message : refusals[form.id][status] ?? body.message);
    return form.querySelector("input:not([hidden])")?.focus();
  }
  form.hidden = true;
  show("outside", false);
  await outcomes[form.id](body);
}

for (const form of Object.values(forms)) on(form, send);

// ------------------------------------------------------------- who is signed in already

async function greet(user) {
  turnTo("You are signed in");
  say(`As ${user.email}, in this browser.`);
  show("login", false);
  show("outside", false);
  show("signed-in");
  const { ok, body } = await call("GET", "/v1/me/invitations");
  const list = document.getElementById("invitations");
  list.hidden = !ok || body.results.length === 0;
  list.replaceChildren(
    ...(ok ? body.results : []).map(({ id, org_name }) =>
      make("li", {}, "You are invited to ", make("a", { href: `/invitations/${id}` }, org_name), ".")),
  );
}

on(document.getElementById("log-out"), async () => {
  await signOut();
  location.assign("/login");
});

// ------------------------------------------------------------------- what the page begins with

const beginnings = {
  async "/login"() {
    const user = await whoIsHere();
    if (user) return greet(user);
    forms.login.hidden = false;
    await hideClosedSignUp();
  },
  async "/signup"() {
    const { sign_up: policy } = await optionsHere();
    show("by-invitation", policy === "invited");
    show("closed", policy === "off");
    forms.signup.hidden = policy === "off";
    show("sign-in");
  },
  async "/verify-email"() {
    if (token) forms.verify.hidden = false;
    else say("The link is incomplete: copy all of it from the mail.");
  },
  async "/reset-password"() {
    forms[token ? "reset" : "ask"].hidden = false;
  },
};

say("");
beginnings[location.pathname.replace(/\/$/, "")]?.().catch(() => say(noAnswer));
