// Deliveries, verified by what other people made and by the examples of docs/webhooks.md.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import Stripe from "stripe";

import { person } from "./support/browser.mjs";
import { Server, freePort } from "./support/server.mjs";

const examples = fileURLToPath(new URL("../../docs/examples/webhooks/", import.meta.url));
const stripe = new Stripe("sk_test_nobody");
let server, browser;

before(async () => {
  server = await Server.start(["webhooks.allow_private_targets=true"]);
  browser = await person(server, "ada@example.com");
  const org = await made("POST", "/v1/orgs", { name: "Acme" });
  await made("POST", `/v1/orgs/${org.id}:switch`);
});
after(() => server?.end());

async function made(method, path, body) {
  const reply = await browser.call(server, method, path, body);
  assert.ok(reply.status < 300, `${path}: ${reply.status} ${reply.text}`);
  return reply.json;
}

/** An endpoint that gives what it was sent next, headers and exact bytes. */
async function endpoint() {
  const waiting = [];
  const listener = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    response.writeHead(204).end();
    waiting.shift()?.({ headers: request.headers, body });
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  return {
    url: `http://127.0.0.1:${listener.address().port}/hook`,
    next: () => new Promise((take) => waiting.push(take)),
    close: () => listener.close() && listener.closeAllConnections(),
  };
}

/** As Standard Webhooks computes it, of a secret in base64 that is refused when it is written in any other way. */
function standardSignature(secret, headers, body) {
  const text = secret.match(/^whsec_([A-Za-z0-9+/]+={0,2})$/)?.[1] ?? assert.fail("the secret is not base64");
  const key = Buffer.from(text, "base64");
  assert.equal(key.toString("base64"), text);
  assert.ok(key.length >= 24 && key.length <= 64, `${key.length} bytes`);
  return `v1,${createHmac("sha256", key)
    .update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`)
    .update(body)
    .digest("base64")}`;
}

async function verifiedByPython(secret, header, body) {
  const script = "import sys, verify; sys.exit(0 if verify.is_ours(sys.argv[1], sys.argv[2], sys.stdin.buffer.read()) else 3)";
  const run = spawn("python3", ["-c", script, secret, header], {
    env: { ...process.env, PYTHONPATH: examples, PYTHONDONTWRITEBYTECODE: "1" },
    stdio: ["pipe", "inherit", "inherit"],
  });
  run.stdin.end(body);
  const [code] = await once(run, "exit");
  assert.ok(code === 0 || code === 3, "it raises nothing");
  return code === 0;
}

test("Stripe's library and the example in Python accept a delivery, and nothing that was changed", async () => {
  const receiver = await endpoint();
  try {
    const webhook = await made("POST", "/v1/webhooks", { url: receiver.url, events: ["board.created"] });
    const arrives = receiver.next();
    await made("POST", "/v1/boards", { name: "Päckchen 📦" });
    const { headers, body } = await arrives;
    const signature = headers["x-svc-signature"];

    const event = stripe.webhooks.constructEvent(body, signature, webhook.secret);
    assert.equal(event.kind, "board.created");
    assert.equal(event.data.changes.name, "Päckchen 📦");
    assert.equal(event.event_id, headers["x-svc-event-id"]);
    assert.throws(() => stripe.webhooks.constructEvent(body, signature, webhook.secret + "x"));
    assert.throws(() => stripe.webhooks.constructEvent(Buffer.concat([body, Buffer.from(" ")]), signature, webhook.secret));
    const old = signature.replace(/t=\d+/, `t=${Math.floor(Date.now() / 1000) - 600}`);
    assert.throws(() => stripe.webhooks.constructEvent(body, old, webhook.secret));

    assert.equal(await verifiedByPython(webhook.secret, signature, body), true);
    assert.equal(await verifiedByPython(webhook.secret, signature, Buffer.concat([body, Buffer.from(" ")])), false);

    for (const wrong of ["v1=é", `v1=${"é".repeat(64)}`, `t=${"9".repeat(5000)},v1=00`, "t=٣,v1=00", "t=,v1=", ""]) {
      const header = wrong.startsWith("v1") ? signature.replace(/v1=.*/, wrong) : wrong;
      assert.equal(await verifiedByPython(webhook.secret, header, body), false, wrong.slice(0, 20));
    }

    const folder = mkdtempSync(join(tmpdir(), "workboard-webhooks-"));
    writeFileSync(join(folder, "body.json"), body);
    const shell = `printf '%s.' "$T" | cat - body.json | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET"`;
    const { stdout } = await promisify(execFile)("bash", ["-c", shell], {
      cwd: folder,
      env: { ...process.env, T: signature.match(/t=(\d+)/)[1], WEBHOOK_SECRET: webhook.secret },
    });
    rmSync(folder, { recursive: true });
    assert.ok(stdout.includes(signature.match(/v1=([0-9a-f]+)/)[1]));
  } finally {
    receiver.close();
  }
});

test("secrets that are made are base64 as Standard Webhooks has it, and what they sign is verified by it", async () => {
  const receiver = await endpoint();
  try {
    const webhook = await made("POST", "/v1/webhooks", { url: receiver.url, events: ["board.created"] });
    let arrives = receiver.next();
    await made("POST", "/v1/boards", { name: "Work" });
    let { headers, body } = await arrives;
    assert.equal(headers["webhook-signature"], standardSignature(webhook.secret, headers, body));

    const rotated = await made("POST", `/v1/webhooks/${webhook.id}:rotate-secret`);
    arrives = receiver.next();
    await made("POST", "/v1/boards", { name: "Work" });
    ({ headers, body } = await arrives);
    assert.equal(headers["webhook-signature"], standardSignature(rotated.secret, headers, body));
  } finally {
    receiver.close();
  }
});

test("with two signatures Stripe's library accepts either secret", async () => {
  const receiver = await endpoint();
  try {
    const webhook = await made("POST", "/v1/webhooks", { url: receiver.url, events: ["board.created"] });
    const rotated = await made("POST", `/v1/webhooks/${webhook.id}:rotate-secret`, { overlap_seconds: 60 });
    const arrives = receiver.next();
    await made("POST", "/v1/boards", { name: "Work" });
    const { headers, body } = await arrives;
    for (const { secret } of [webhook, rotated])
      assert.equal(stripe.webhooks.constructEvent(body, headers["x-svc-signature"], secret).object, "event");
  } finally {
    receiver.close();
  }
});

test("the example receiver takes what is ours and refuses the rest", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const webhook = await made("POST", "/v1/webhooks", { url, events: ["board.created"] });
  const receiver = spawn(process.execPath, [examples + "receiver.mjs"], {
    env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: webhook.secret },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    for (let tries = 0; ; ++tries)
      try {
        const forged = await fetch(url, { method: "POST", body: "{}", headers: { "X-Svc-Signature": "t=1,v1=00" } });
        assert.equal(forged.status, 401);
        break;
      } catch (error) {
        if (tries === 1000) throw error; // it does not listen
        await new Promise((done) => setTimeout(done, 50));
      }
    // One that breaks off, and one without end.
    const broken = request(url, { method: "POST", headers: { "Content-Length": 100 } });
    broken.on("error", () => {});
    broken.write("{");
    await once(broken, "socket").then(([socket]) => socket.connecting && once(socket, "connect"));
    await new Promise((done) => setTimeout(done, 200));
    broken.destroy();
    const large = await fetch(url, { method: "POST", body: Buffer.alloc(2 << 20) }).catch((error) => error);
    assert.ok(large.status === 413 || large instanceof TypeError, String(large));
    await new Promise((done) => setTimeout(done, 200));
    assert.equal(receiver.exitCode, null, "it is still there");
    const says = once(receiver.stdout, "data");
    const board = await made("POST", "/v1/boards", { name: "Work" });
    assert.equal(String((await says)[0]).trim(), `board.created ${board.id}`);
  } finally {
    receiver.kill("SIGKILL");
  }
});
