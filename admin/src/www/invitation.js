// What the link in an invitation mail leads to. The token in it shows the invitation and confirms
// the address of a new account; accepting takes being signed in as the invited address.
const path = `/v1/invitations/${encodeURIComponent(lastPart)}`;
const kept = `invitation ${lastPart}`;
// For the way by the sign-in page and back; out of the history, since it is a secret.
const token = new URLSearchParams(location.search).get("token") ?? sessionStorage.getItem(kept);
if (token) sessionStorage.setItem(kept, token);
if (location.search) history.replaceState(null, "", location.pathname);

const join = document.getElementById("join");
const same = (a, b) => a.trim().toLowerCase() === b.trim().toLowerCase();
let invitation;

const endings = {
  accepted: "This invitation has been accepted already.",
  declined: "This invitation was declined. Ask for another one if that was a mistake.",
  revoked: "This invitation was withdrawn. Ask whoever sent it.",
  expired: "This invitation has run out. Ask for another one.",
};

function onlySay(title, ...words) {
  for (const id of ["join", "sign-in", "answer", "leave", "words"]) show(id, false);
  turnTo(title);
  say(...words);
  heading.focus();
}

async function accept() {
  const { ok, status, body } = await call("POST", `${path}:accept`);
  if (ok) {
    sessionStorage.removeItem(kept);
    onlySay(`Welcome to ${body.org_name}`, `You are a member of ${body.org_name} now.`);
    return show("onward");
  }
  if (status === 404) return onlySay("No such invitation", "It was answered or withdrawn, or it is for another address.");
  say(status === 402 ? "The workspace has no free seat. Ask its owner to make room, then come here again." : body.message);
}

async function decline() {
  const { ok, body } = await call("POST", `${path}:decline`);
  if (!ok) return say(body.message);
  sessionStorage.removeItem(kept);
  onlySay("Declined", "You are not in the workspace, and nobody will be asked again but by a new invitation.");
}

/** Signs up, which the token confirms at once, signs in and accepts. */
async function signUpAndAccept(form) {
  const { name, password } = Object.fromEntries(new FormData(form));
  const email = invitation.email;
  const made = await call("POST", "/v1/auth/signup", {
    body: { email, password, invitation_token: token, ...(name && { name }) },
  });
  if (!made.ok) return say(made.body.message);
  if (!made.body.email_verified)
    return onlySay("Read your mail", `We have sent a mail to ${email} that says how to go on.`);
  const session = await call("POST", "/v1/auth/login", { body: { email, password } });
  if (!session.ok) return say(session.body.message);
  await accept();
}

async function leave() {
  await signOut();
  location.reload();
}

/** The invitation, by the token, or as that of whoever is signed in. */
async function find(user) {
  if (token) {
    const { ok, status, body } = await call("GET", path, { headers: { "X-Svc-Invitation-Token": token } });
    if (ok) return body;
    if (status === 429) throw new Error("too often");
  }
  if (!user) return undefined;
  const { ok, body } = await call("GET", "/v1/me/invitations?page_size=100");
  const mine = ok && body.results.find(({ id }) => id === lastPart);
  return mine ? { ...mine, invited_by_name: mine.invited_by.name } : undefined;
}

async function begin() {
  const user = await whoIsHere();
  invitation = await find(user);
  const back = `/login?return_to=${encodeURIComponent(location.pathname)}`;
  document.querySelector("#sign-in a").href = back;
  if (!invitation && !user && !token)
    return onlySay("Invitation", "Open the link in the mail, or ", make("a", { href: back }, "sign in"), " with the invited address.");
  if (!invitation)
    return onlySay("No such invitation", "The link is incomplete, or a newer mail has taken its place.");
  const { org_name, invited_by_name, email, role, status, message, expires_at } = invitation;
  if (status !== "pending") {
    onlySay(`Invitation to ${org_name}`, endings[status]);
    return show("onward", Boolean(user));
  }
  turnTo(`Join ${org_name}`);
  say(`${invited_by_name || "Somebody"} invites ${email} to the workspace ${org_name}, as ${role}. `
    + `This can be accepted until ${day(expires_at)}.`);
  const words = document.getElementById("words");
  words.textContent = message ?? "";
  words.hidden = !message;
  if (user && same(user.email, email)) return show("answer");
  if (user) {
    outcome.append(` You are signed in as ${user.email}, which is another address.`);
    return show("leave");
  }
  join.elements.email.value = email;
  join.hidden = (await optionsHere()).sign_up === "off";
  if (join.hidden) outcome.append(" This server takes no new accounts from outside: ask whoever runs it for one, or sign in.");
  show("sign-in");
}

on(join, signUpAndAccept);
on(document.getElementById("accept"), accept);
on(document.getElementById("decline"), decline);
on(document.querySelector("#leave button"), leave);
say("One moment…");
begin().catch(() => say(noAnswer));
