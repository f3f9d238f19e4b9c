// Mails over SMTP, to smtp-server, and to servers that misbehave.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TLSSocket, connect, createSecureContext } from "node:tls";

import { SMTPServer } from "smtp-server";

import { Browser } from "./support/browser.mjs";
import { makeCertificate } from "./support/certificate.mjs";
import { Server } from "./support/server.mjs";
import { until } from "./support/until.mjs";

const password = "a password with a : and an ü, long enough to need more than one line of base64, they say";
const reply = (responseCode, text) => Object.assign(new Error(text), { responseCode });

/** A mail server that notes what it gets, and refuses what it is told to. */
class MailServer {
  mails = [];
  logins = [];
  refuse = {}; // by step: the Error
  taken = { rcpt: 0, data: 0 };

  async start(options = {}) {
    this.smtp = new SMTPServer({
      authMethods: ["PLAIN", "LOGIN"],
      logger: false,
      disableReverseLookup: true,
      closeTimeout: 100,
      ...options,
      onAuth: ({ username, password: given, method }, session, done) => {
        this.logins.push({ method, username, secure: session.secure });
        if (username !== "board" || given !== password) return done(reply(535, "wrong"));
        done(null, { user: username });
      },
      onRcptTo: (_, __, done) => {
        this.taken.rcpt += 1;
        done(this.refuse.rcpt);
      },
      onData: (stream, session, done) => {
        const chunks = [];
        stream.on("data", (chunk) => chunks.push(chunk));
        stream.on("end", () => {
          this.taken.data += 1;
          const { mailFrom, rcptTo } = session.envelope;
          const mail = { text: Buffer.concat(chunks).toString(), from: mailFrom, to: rcptTo, secure: session.secure };
          this.tried = [...(this.tried ?? []), mail];
          if (!this.refuse.data) this.mails.push(mail);
          done(this.refuse.data);
        });
      },
    });
    this.smtp.on("error", () => {});
    this.smtp.listen(0, "127.0.0.1");
    await once(this.smtp.server, "listening");
    this.port = this.smtp.server.address().port;
    return this;
  }
  end = () => new Promise((done) => this.smtp.close(done));
}

const signUp = async (server, email, more = {}) => {
  const answer = await new Browser().call(server, "POST", "/v1/auth/signup", { email, password: "correct horse", ...more });
  assert.equal(answer.status, 201, answer.text);
};
const mailTo = (mails, address) => mails.filter((each) => each.to.some((to) => to.address === address));
const header = (mail, name) => new RegExp(`^${name}: (.*)$`, "m").exec(mail.text.split("\r\n\r\n")[0])?.[1];

let certificate;
const ends = [];
before(() => {
  certificate = makeCertificate();
});
after(async () => {
  for (const end of ends.reverse()) await end();
  certificate.remove();
});

const tls = () => ({ key: certificate.key, cert: certificate.certificate });
const settings = (port, more = {}) =>
  Object.entries({
    "mail-smtp.host": "localhost",
    "mail-smtp.port": port,
    "mail-smtp.username": "board",
    "mail-smtp.password": password,
    "mail-smtp.ca_file": certificate.file,
    "mail-smtp.timeout_seconds": 20, // the mail server is in this process, which may be held up
    "mail.retry_seconds": 1,
    ...more,
  }).map(([name, value]) => `${name}=${value}`);

async function start(mailServer, more) {
  const server = await Server.start(settings(mailServer.port, more));
  ends.push(() => server.end());
  return server;
}
async function startMail(options) {
  const mailServer = await new MailServer().start(options);
  ends.push(mailServer.end);
  return mailServer;
}

/** A server of its own kind, line by line. */
async function startRaw(converse) {
  const sockets = new Set();
  const raw = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    converse(socket);
  }).listen(0, "127.0.0.1");
  await once(raw, "listening");
  ends.push(() => {
    for (const each of sockets) each.destroy();
    raw.close();
  });
  return { port: raw.address().port };
}

// They wait most of the time, and each has a mail server of its own.
describe("mails by SMTP", { concurrency: 3 }, () => {
  test("with STARTTLS and a log-in", async (t) => {
    const mailServer = await startMail(tls());
    const server = await start(mailServer);

    await t.test("a mail arrives whole", async () => {
      for (const between of ["\t", "\r\n", "\n"]) {
        const refused = await new Browser().call(server, "POST", "/v1/auth/signup", {
          email: "ada@example.com", password: "correct horse", name: `Ada${between}Bcc: eve@example.com`,
        });
        assert.equal(refused.status, 422, JSON.stringify(between));
        assert.deepEqual(refused.json.detail[0].loc, ["body", "name"]);
      }
      await signUp(server, "ada@example.com", { name: "Ada Bcc: eve@example.com" });
      assert.ok(await until(() => mailServer.mails.length), server.output);
      const [mail] = mailServer.mails;
      assert.equal(mail.secure, true);
      assert.deepEqual(mailServer.logins, [{ method: "PLAIN", username: "board", secure: true }]);
      assert.equal(mail.from.address, "workboard@localhost.localdomain");
      assert.deepEqual(mail.to.map((to) => to.address), ["ada@example.com"]);
      assert.equal(header(mail, "To"), "ada@example.com");
      assert.equal(header(mail, "From"), '"Workboard" <workboard@localhost.localdomain>');
      assert.match(header(mail, "Content-Type"), /^multipart\/alternative/);
      assert.match(mail.text, /Content-Type: text\/plain; charset=utf-8/);
      assert.match(mail.text, /Content-Type: text\/html; charset=utf-8/);
      assert.equal(header(mail, "Bcc"), undefined);
      const [, token] = /token=([\w-]+)/.exec(mail.text);
      const verified = await new Browser().call(server, "POST", "/v1/auth/verify-email", { token });
      assert.equal(verified.status, 200, "the link works");
    });

    await t.test("a temporary refusal is tried again, as the same mail", async () => {
      mailServer.refuse.data = reply(451, "later, please");
      mailServer.tried = [];
      await signUp(server, "grace@example.com");
      assert.ok(await until(() => mailServer.tried.length >= 1));
      assert.equal(mailTo(mailServer.mails, "grace@example.com").length, 0);
      mailServer.refuse = {};
      assert.ok(await until(() => mailTo(mailServer.mails, "grace@example.com").length));
      const ids = mailServer.tried.map((each) => header(each, "Message-ID"));
      assert.ok(ids.length >= 2);
      assert.equal(new Set(ids).size, 1);
      assert.match(server.output, /could not be sent: .*451/);
    });

    await t.test("a permanent refusal is not", async () => {
      mailServer.refuse.rcpt = reply(550, "nobody of that name");
      const before = mailServer.taken.rcpt;
      await signUp(server, "nobody@example.com");
      assert.ok(await until(() => mailServer.taken.rcpt > before));
      await sleep(7000); // several times the pause before a second attempt
      assert.equal(mailServer.taken.rcpt, before + 1);
      mailServer.refuse = {};
      await signUp(server, "next@example.com");
      assert.ok(await until(() => mailTo(mailServer.mails, "next@example.com").length), "others go on");
    });

    await t.test("an address that would end the line is no address", async () => {
      for (const email of ["a@example.com>\r\nRCPT TO:<eve@example.com", "a@example.com\r\nBcc: eve@example.com",
        "<a@example.com>", "a b@example.com", "a@example.com\u0000", "a@example.com BODY=7BIT"]) {
        const answer = await new Browser().call(server, "POST", "/v1/auth/signup", { email, password: "correct horse" });
        assert.equal(answer.status, 422, email);
      }
    });
  });

  test("with TLS from the first byte, and LOGIN", async () => {
    const mailServer = await startMail({ ...tls(), secure: true, authMethods: ["LOGIN"] });
    const server = await start(mailServer, { "mail-smtp.security": "tls" });
    await signUp(server, "ada@example.com");
    assert.ok(await until(() => mailServer.mails.length), server.output);
    assert.deepEqual(mailServer.logins, [{ method: "LOGIN", username: "board", secure: true }]);
  });

  test("in the clear, on this machine, without a log-in", async () => {
    const mailServer = await startMail({ disabledCommands: ["STARTTLS", "AUTH"], authOptional: true });
    const server = await start(mailServer, { "mail-smtp.security": "none", "mail-smtp.username": "" });
    await signUp(server, "ada@example.com");
    assert.ok(await until(() => mailServer.mails.length), server.output);
  });

  describe("mails that follow each other share a conversation", { concurrency: true }, () => {
    const sendThree = async (server, mailServer, between = () => {}) => {
      for (const email of ["ada@example.com", "bob@example.com", "eve@example.com"]) {
        await signUp(server, email);
        assert.ok(await until(() => mailTo(mailServer.mails, email).length), server.output);
        between();
      }
      assert.equal(mailServer.mails.length, 3);
      assert.doesNotMatch(server.output, /could not be sent/);
    };

    for (const hidePIPELINING of [false, true])
      test(hidePIPELINING ? "step by step" : "all steps at once", async () => {
        const mailServer = await startMail({ ...tls(), hidePIPELINING });
        await sendThree(await start(mailServer), mailServer);
        assert.equal(mailServer.logins.length, 1);
        assert.ok(await until(() => mailServer.smtp.connections.size === 0), "it ends once nothing follows");
      });

    test("unless the server has ended it", async () => {
      const mailServer = await startMail(tls());
      await sendThree(await start(mailServer), mailServer, () => {
        for (const each of mailServer.smtp.connections) each.close();
      });
      assert.equal(mailServer.logins.length, 3);
    });

    test("unless the server has had enough of it", async () => {
      const served = new WeakSet();
      const onMailFrom = (_, session, done) => {
        if (served.has(session)) return done(reply(421, "one at a time"));
        served.add(session);
        done();
      };
      const mailServer = await startMail({ ...tls(), onMailFrom });
      await sendThree(await start(mailServer), mailServer);
      assert.equal(mailServer.logins.length, 3);
    });
  });

  const refused = {
    "a certificate nobody vouches for": { more: { "mail-smtp.ca_file": "" } },
    "a certificate of another host": { more: { "mail-smtp.host": "127.0.0.1" } },
    "no STARTTLS": { options: { disabledCommands: ["STARTTLS"] } },
    "no log-in that fits": { options: { disabledCommands: ["AUTH"], authOptional: true } },
    "a wrong password": { more: { "mail-smtp.password": "wrong" }, logsIn: true },
  };
  for (const [what, { more, options, logsIn }] of Object.entries(refused))
    test(`nothing is sent to a server with ${what}`, async () => {
      const mailServer = await startMail({ ...tls(), ...options });
      const server = await start(mailServer, more);
      await signUp(server, "ada@example.com");
      assert.ok(await until(() => /could not be sent/.test(server.output)), server.output);
      assert.equal(mailServer.mails.length, 0);
      assert.equal(mailServer.taken.rcpt, 0);
      if (!logsIn) assert.equal(mailServer.logins.length, 0);
      assert.ok(mailServer.logins.every((each) => each.secure));
      assert.ok(!server.output.includes(password));
    });

  test("a digest is one mail with both forms, which ends by one click", async () => {
    const mailServer = await startMail(tls());
    const server = await start(mailServer);
    const psql = (statement) => server.sql(statement);
    const person = async (email) => {
      await signUp(server, email);
      assert.ok(await until(() => mailTo(mailServer.mails, email).length), server.output);
      const [, token] = /token=([\w-]+)/.exec(mailTo(mailServer.mails, email)[0].text);
      const browser = new Browser();
      const verified = await browser.call(server, "POST", "/v1/auth/verify-email", { token });
      assert.equal(verified.status, 200, verified.text);
      return { browser, call: (...words) => browser.call(server, ...words), id: verified.json.user.id };
    };
    const made = async (by, ...words) => {
      const answer = await by.call("POST", ...words);
      assert.equal(answer.status, 201, answer.text);
      return answer.json;
    };
    const [ada, bob] = [await person("ada@example.com"), await person("bob@example.com")];
    const org = await made(ada, "/v1/orgs", { name: "Acme" });
    await made(ada, `/v1/orgs/${org.id}/members`, { email: "bob@example.com" });
    const quiet = { email_digest: "daily", notifications: { assigned: { email: false } } };
    const preferences = await bob.call("PATCH", "/v1/me/preferences", quiet);
    assert.equal(preferences.status, 200, preferences.text);
    const switched = await ada.call("POST", `/v1/orgs/${org.id}:switch`);
    assert.equal(switched.status, 200, switched.text);
    const board = await made(ada, "/v1/boards", { name: "Desk" });
    const title = "Größe <b>prüfen</b>";
    await made(ada, `/v1/boards/${board.id}/cards`, { column_id: board.column_ids[0], title, assignees: [bob.id] });
    const waiting = `SELECT count(*) FROM notification_inboxes WHERE user_id = '${bob.id}' AND digest_at IS NOT NULL`;
    assert.ok(await until(async () => (await psql(waiting)) === "1"), server.output);
    // Of the membership he was told as well.
    const unread = `SELECT count(*) FROM notifications WHERE user_id = '${bob.id}' AND read_at IS NULL`;
    assert.ok(await until(async () => (await psql(unread)) === "2"), server.output);
    const digests = () => mailTo(mailServer.mails, "bob@example.com").filter((each) => /^Acme:/.test(header(each, "Subject")));
    // As if the hour had come.
    await psql("UPDATE notification_inboxes SET digest_at = now() WHERE digest_at IS NOT NULL");
    await server.doNow("notifications.digest.find");
    assert.ok(await until(() => digests().length), server.output);

    assert.equal(digests().length, 1);
    const [mail] = digests();
    assert.equal(header(mail, "Subject"), "Acme: 2 new notifications");
    assert.match(header(mail, "Content-Type"), /^multipart\/alternative/);
    assert.match(mail.text, /Content-Type: text\/plain; charset=utf-8/);
    assert.match(mail.text, /Content-Type: text\/html; charset=utf-8/);
    assert.ok(mail.text.includes(title), mail.text);
    assert.ok(mail.text.includes("Größe &lt;b&gt;prüfen&lt;/b&gt;"), mail.text);
    assert.equal(header(mail, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    const [, address] = /^<(http[^>]+)>$/.exec(header(mail, "List-Unsubscribe"));

    const nobody = new Browser();
    const asked = await nobody.get(address);
    assert.equal(asked.status, 200);
    assert.match(asked.headers.get("content-type"), /^text\/html/);
    const ended = await nobody.post(address, { form: { "List-Unsubscribe": "One-Click" } });
    assert.equal(ended.status, 200, ended.text);
    const after = await bob.call("GET", "/v1/me/preferences");
    assert.equal(after.json.email_digest, "off");
  });

  describe("a server that stalls holds nobody up", { concurrency: true }, () => {
    const ways = {
      "says nothing": () => {},
      "drips": (socket) => {
        socket.write("220");
        const timer = setInterval(() => socket.write("-"), 100);
        socket.on("close", () => clearInterval(timer));
      },
      "hangs up": (socket) => socket.destroy(),
      "speaks in bytes that are no text": (socket) => socket.end(Buffer.from([0x35, 0x35, 0x34, 0x20, 0xff, 0x00, 0x0d, 0x0a])),
    };
    for (const [what, converse] of Object.entries(ways))
      test(what, async () => {
        // The mail server does nothing before the sign-up is answered: one that waited for the mail
        // would be answered after the mail had failed.
        let answered;
        const afterTheAnswer = new Promise((resolve) => (answered = resolve));
        const mailServer = await startRaw((socket) => afterTheAnswer.then(() => converse(socket)));
        const timeout = 15;
        const server = await start(mailServer, { "mail-smtp.timeout_seconds": timeout });
        await signUp(server, "ada@example.com");
        assert.doesNotMatch(server.output, /could not be sent/, "signing up does not wait for the mail");
        answered();
        assert.ok(await until(() => /could not be sent/.test(server.output), 2 * timeout), server.output);
        assert.doesNotMatch(server.output, /outbox cannot be read/);
        const ending = Date.now();
        await server.stop();
        assert.ok(Date.now() - ending < timeout * 1000, "neither does stopping");
      });
  });

  test("what is slipped in before the encryption counts for nothing", async () => {
    // The answer to STARTTLS brings along an answer to the EHLO that comes after it.
    const mailServer = await startMail({ ...tls(), secure: true });
    const front = await startRaw((socket) => {
      socket.write("220 hello\r\n");
      let said = "";
      const listen = (chunk) => {
        said += chunk;
        if (/EHLO [^\n]*\n$/.test(said)) socket.write("250-hello\r\n250 STARTTLS\r\n");
        if (!/STARTTLS\r\n$/.test(said)) return;
        socket.removeListener("data", listen);
        socket.write("220 go on\r\n250 slipped in\r\n250 slipped in\r\n250 slipped in\r\n");
        const inside = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(tls()) });
        inside.on("error", () => {});
        const smtp = connect({ port: mailServer.port, host: "127.0.0.1", rejectUnauthorized: false });
        smtp.on("error", () => {});
        smtp.once("data", () => smtp.pipe(inside).pipe(smtp)); // its greeting was given already
      };
      socket.on("data", listen);
    });
    const server = await start(front);
    await signUp(server, "ada@example.com");
    assert.ok(await until(() => mailServer.mails.length), server.output);
    assert.deepEqual(mailServer.mails[0].to.map((to) => to.address), ["ada@example.com"]);
    assert.match(mailServer.mails[0].text, /token=[\w-]{20,}/);
  });

  test("a password is not for the network in the clear", async () => {
    await assert.rejects(
      Server.start(settings(25, { "mail-smtp.security": "none", "mail-smtp.host": "mail.example.com" })),
      /mail-smtp.security/,
    );
  });
});
