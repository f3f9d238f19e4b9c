// The real program on data of its own, and the first account on it, as a stranger would make it.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { noteRefusal } from "./note_refusal.mjs";
import { until } from "./until.mjs";

const build = process.env.WORKBOARD_BUILD;
if (!build) throw new Error("WORKBOARD_BUILD has to name the folder of the build to test");

export async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

/** A database with all migrations, in the cluster that all tests of a build share. */
class Database {
  #program = spawn(join(build, "bin/test_databases"), { stdio: ["pipe", "pipe", "inherit"] });

  /** A build without tests has none. */
  static exist = () => existsSync(join(build, "bin/test_databases"));

  /** Its URL. */
  async open() {
    const lines = createInterface({ input: this.#program.stdout });
    this.#program.stdin.write("one\n");
    const [url] = await Promise.race([
      once(lines, "line"),
      once(this.#program, "exit").then(() => { throw new Error("no database for the test"); }),
    ]);
    return url;
  }

  async end() {
    const ended = once(this.#program, "exit");
    this.#program.stdin.end();
    await ended;
  }
}

export class Server {
  #program;
  #database;
  #output = "";

  /**
   * `settings` as "section.key=value". Its database is one of those that are made already, or its own,
   * which it makes when it starts for the first time, as a user's does.
   */
  constructor(port, settings = [], { ownDatabase = false } = {}) {
    this.port = port;
    this.ownDatabase = ownDatabase || !Database.exist();
    this.settings = ["auth.password_memory_mib=8", ...settings]; // hashes that cost little
    this.url = `http://127.0.0.1:${port}`;
    this.folder = mkdtempSync(join(tmpdir(), "workboard-clients-"));
    // The database may run as another user; it would be kept elsewhere, and stay behind.
    chmodSync(this.folder, 0o755);
  }

  static async start(settings, options) {
    for (let tries = 1; ; tries += 1) {
      const server = new Server(await freePort(), settings, options);
      try {
        await server.start();
        return server;
      } catch (problem) {
        await server.end();
        // Somebody else was given the port meanwhile.
        if (tries === 3 || !problem.message.includes("cannot listen on")) throw problem;
      }
    }
  }

  /** Starts it on the same data and the same port as before. */
  async start() {
    if (!this.ownDatabase && !this.#database) {
      this.#database = new Database();
      this.databaseUrl = await this.#database.open();
      this.settings.push(`database.url=${this.databaseUrl}`);
    }
    this.#program = spawn(
      join(build, "bin/workboard"),
      ["serve", "--port", String(this.port), "--var", this.folder].concat(
        this.settings.flatMap((each) => ["--set", each]),
      ),
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    const ready = new Promise((done) => {
      const read = (chunk) => {
        this.#output += chunk;
        if (this.#output.includes("workboard: ready on ")) done();
      };
      this.#output = "";
      this.#program.stdout.on("data", read);
      this.#program.stderr.on("data", read);
    });
    const ended = once(this.#program, "exit").then(() => "ended");
    const outcome = await Promise.race([ready, ended, sleep(90_000, "late", { ref: false })]);
    if (outcome) throw new Error(`the server did not start (${outcome}):\n${this.#output}`);
  }

  /** The same with these settings besides, those given before notwithstanding. */
  async restart(...settings) {
    await this.stop();
    this.settings.push(...settings);
    await this.start();
  }

  /** Runs another command of the program on the same data; what it has written. */
  async command(...words) {
    const settings = this.settings.flatMap((each) => ["--set", each]);
    const { stdout } = await promisify(execFile)(join(build, "bin/workboard"), [...words, "--var", this.folder, ...settings]);
    return stdout;
  }

  /** Runs a statement in its own database, as nobody but a superuser may; the rows, cells apart by `|`. */
  async sql(statement) {
    const own = `host=${join(this.folder, "postgres/socket")} port=5432 user=postgres dbname=workboard`;
    const at = this.databaseUrl?.replace("workboard@", "postgres@") ?? own;
    const { stdout } = await promisify(execFile)("psql", [at, "-qAtc", statement]);
    return stdout.trim();
  }

  /** Has a job that recurs, of that kind, done now: once more if it is running, for it may have looked already. */
  async doNow(kind) {
    const due = `UPDATE jobs SET state = 'ready', due_at = now() WHERE kind = '${kind}' AND state IN ('waiting', 'ready')`;
    if (!(await until(() => this.sql(`${due} RETURNING kind`), 30))) throw new Error(`no job of the kind ${kind}`);
  }

  /** What it has written so far. */
  get output() {
    return this.#output;
  }

  /** The exit code. */
  async stop() {
    if (this.#program?.exitCode === null) {
      const ended = once(this.#program, "exit");
      this.#program.kill("SIGTERM");
      await ended;
    }
    return this.#program?.exitCode;
  }

  async end() {
    await this.stop();
    await this.#database?.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The newest mail to this address, once it is there: mails are sent after the answer. */
  async mailTo(address) {
    const folder = join(this.folder, "mail");
    const mails = () =>
      (existsSync(folder) ? readdirSync(folder) : [])
        .filter((name) => name.endsWith(".eml"))
        .sort()
        .map((name) => readFileSync(join(folder, name), "utf8"))
        .filter((mail) => mail.includes(address));
    const newest = await until(() => mails().at(-1), 60);
    if (!newest) throw new Error(`no mail to ${address}`);
    return newest;
  }
}

/** A caller of the REST interface with a cookie jar. */
export class Rest {
  #cookies = new Map();

  constructor(server, headers = {}) {
    this.server = server;
    this.headers = { "X-Board-Version": "2026-06-19", ...headers };
  }

  /** As a browser would send them. */
  cookies() {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** The same, for a browser to begin with: who has them is signed in. */
  cookieList(url) {
    return [...this.#cookies].map(([name, value]) => ({ name, value, url }));
  }

  /** The status, and the answer where there is one. */
  async exchange(method, path, body) {
    const headers = { ...this.headers };
    if (this.#cookies.size) headers.Cookie = this.cookies();
    if (this.#cookies.has("svc_csrf")) headers["X-CSRF-Token"] = this.#cookies.get("svc_csrf");
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const reply = await fetch(this.server.url + path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    // Debian's node 18 has no getSetCookie.
    for (const cookie of reply.headers.get("set-cookie")?.split(/,\s*(?=svc_)/) ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      this.#cookies.set(name, value);
    }
    const text = await reply.text();
    noteRefusal(method, reply.url, text);
    return { status: reply.status, answer: text ? JSON.parse(text) : undefined };
  }

  async send(method, path, body) {
    const { status, answer } = await this.exchange(method, path, body);
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  }

  get = (path) => this.send("GET", path);
  post = (path, body) => this.send("POST", path, body);
}

/** A verified person who has signed in and opened a workspace. */
export async function makeWorkspace(server, email = "ada@example.com", name = "Ada") {
  const person = new Rest(server);
  await person.post("/v1/auth/signup", { email, password: "correct horse battery", name });
  const [, token] = /token=([\w-]+)/.exec(await server.mailTo(email));
  await person.post("/v1/auth/verify-email", { token });
  const org = await person.post("/v1/orgs", { name: "Acme" });
  person.headers["X-Svc-Org"] = org.id;
  person.email = email;
  return person;
}

/** Somebody else with an account, a member of the owner's workspace. */
export async function makeMember(server, owner, email, name) {
  const org = owner.headers["X-Svc-Org"];
  const person = new Rest(server);
  await person.post("/v1/auth/signup", { email, password: "correct horse battery", name });
  const [, token] = /token=([\w-]+)/.exec(await server.mailTo(email));
  await person.post("/v1/auth/verify-email", { token });
  await owner.post(`/v1/orgs/${org}/invitations`, { email });
  const { results: [invitation] } = await person.get("/v1/me/invitations");
  await person.post(`/v1/invitations/${invitation.id}:accept`);
  person.headers["X-Svc-Org"] = org;
  return person;
}

/** The secret of a new token. */
export async function mintToken(person, kind, role = "member") {
  const body = { kind, name: `test ${kind}`, role };
  if (kind === "agent") body.agent = { name: "Robot" };
  return (await person.post("/v1/tokens", body)).token;
}

/** A board with a queue column that holds cards of these titles. */
export async function makeQueue(person, titles) {
  const board = await person.post("/v1/boards", { name: "Deliveries" });
  const column = await person.post(`/v1/boards/${board.id}/columns`, {
    name: "To do",
    kind: "queue",
    queue: { enabled: true },
  });
  for (const title of titles)
    await person.post(`/v1/boards/${board.id}/cards`, { column_id: column.id, title });
  return { board_id: board.id, column_id: column.id };
}
