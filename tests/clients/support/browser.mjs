// As much of a browser as signing in asks of it: cookies by host and path, redirects one by one.

import { noteRefusal } from "./note_refusal.mjs";

export class Browser {
  #cookies = new Map();

  /** The cookie's value, whatever its path. */
  cookie(url, name) {
    return this.#cookies.get(new URL(url).host)?.get(name)?.value;
  }

  setCookie(url, name, value, path = "/") {
    const host = new URL(url).host;
    if (!this.#cookies.has(host)) this.#cookies.set(host, new Map());
    if (value === "") this.#cookies.get(host).delete(name);
    else this.#cookies.get(host).set(name, { value, path });
  }

  /** One request; a redirect is answered, not followed. */
  async send(method, url, { form, json, headers = {} } = {}) {
    const { host, pathname } = new URL(url);
    const jar = [...(this.#cookies.get(host) ?? [])].filter(([, { path }]) => pathname.startsWith(path));
    const body = form ? new URLSearchParams(form) : json && JSON.stringify(json);
    const answer = await fetch(url, {
      method,
      body,
      redirect: "manual",
      headers: {
        ...(jar.length && { Cookie: jar.map(([name, { value }]) => `${name}=${value}`).join("; ") }),
        ...(json && { "Content-Type": "application/json" }),
        ...headers,
      },
    });
    // Debian's node 18 has no getSetCookie.
    for (const each of answer.headers.get("set-cookie")?.split(/,\s*(?=[\w.-]+=)/) ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(each);
      const path = /;\s*path=([^;]*)/i.exec(each)?.[1] ?? "/";
      const over = /;\s*max-age=0/i.test(each) || /;\s*expires=thu, 01 jan 1970/i.test(each);
      this.setCookie(url, name, over ? "" : value, path);
    }
    const location = answer.headers.get("location");
    const text = await answer.text();
    noteRefusal(method, url, text);
    return {
      status: answer.status,
      headers: answer.headers,
      location: location && new URL(location, url).href,
      text,
    };
  }

  get = (url, options) => this.send("GET", url, options);
  post = (url, options) => this.send("POST", url, options);

  /** A call of our own interface. */
  async call(server, method, path, json) {
    const headers = { "X-Board-Version": "2026-06-19" };
    const token = this.cookie(server.url, "svc_csrf");
    if (token && method !== "GET") headers["X-CSRF-Token"] = token;
    const answer = await this.send(method, server.url + path, { json, headers });
    return { ...answer, json: answer.text ? JSON.parse(answer.text) : undefined };
  }
}

/** A verified account with a password, signed in to in a browser of its own. */
export async function person(server, email, name = "Ada") {
  const browser = new Browser();
  const password = "correct horse battery";
  await browser.call(server, "POST", "/v1/auth/signup", { email, password, name });
  const [, token] = /token=([\w-]+)/.exec(await server.mailTo(email));
  const verified = await browser.call(server, "POST", "/v1/auth/verify-email", { token });
  if (verified.status !== 200) throw new Error(verified.text);
  return browser;
}

/** Sets out to the provider; the page there, and its query. */
export async function setOut(browser, server, query = "") {
  const answer = await browser.call(server, "GET", "/v1/auth/google/start" + query);
  if (answer.status !== 200) throw new Error(answer.text);
  const page = new URL(answer.json.authorization_url);
  return { page, query: Object.fromEntries(page.searchParams) };
}

/** Where the callback leads: our path, or the reason it gave. */
export async function comeBack(browser, server, query) {
  const url = `${server.url}/v1/auth/google/callback?${new URLSearchParams(query)}`;
  const answer = await browser.get(url);
  if (answer.status !== 302) throw new Error(`${answer.status} ${answer.text}`);
  const to = new URL(answer.location);
  if (to.origin !== server.url) throw new Error("led away to " + to);
  return { ...answer, reason: to.searchParams.get("oauth_error"), path: to.pathname + to.search };
}
