// The boards of whoever is signed in, workspace by workspace.
async function everything(path, headers) {
  const all = [];
  for (let cursor = ""; all.length < 1000;) {
    const { ok, body } = await call("GET", `${path}?page_size=100${cursor}`, { headers });
    if (!ok) break;
    all.push(...body.results);
    if (!body.has_more) break;
    cursor = `&start_cursor=${encodeURIComponent(body.next_cursor)}`;
  }
  return all;
}

async function workspace({ org_id, org_name }) {
  const boards = await everything("/v1/boards", { "X-Svc-Org": org_id });
  return make(
    "section", {},
    make("h2", {}, org_name),
    boards.length
      ? make("ul", { className: "list" }, ...boards.map(({ id, name, key }) =>
          make("li", {}, make("a", { href: `/boards/${id}` }, name), " ", make("code", {}, key))))
      : make("p", { className: "note" }, "No boards yet."),
  );
}

async function begin() {
  const user = await whoIsHere();
  if (!user) return location.replace("/login?return_to=/boards");
  const seats = await everything("/v1/me/memberships");
  say(seats.length ? "" : "You are in no workspace yet. Accept an invitation, or open one with POST /v1/orgs.");
  const view = document.getElementById("view");
  for (const seat of seats) view.append(await workspace(seat));
}

say("One moment…");
begin().catch(() => say(noAnswer));
