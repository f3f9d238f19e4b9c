// Files in a bucket: what is sent and fetched, with s3rver; what is signed, beside Amazon's own SDK.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { HeadObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { S3RequestPresigner } from "@aws-sdk/s3-request-presigner";
import S3rver from "s3rver";

import { person } from "./support/browser.mjs";
import { Server, freePort } from "./support/server.mjs";
import { until } from "./support/until.mjs";

const png = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(5000, 7)]);
const bucket = "board-files";
const account = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" }; // the one that s3rver knows
const region = "us-east-1";

const folder = mkdtempSync(join(tmpdir(), "workboard-s3-"));
let store, server, browser, client, endpoint;

const settings = (address, more = []) => [
  `store-s3.bucket=${bucket}`,
  `store-s3.endpoint=${address}`,
  `store-s3.access_key=${account.accessKeyId}`,
  `store-s3.secret_key=${account.secretAccessKey}`,
  `store-s3.region=${region}`,
  ...more,
];

before(async () => {
  const port = await freePort();
  endpoint = `http://127.0.0.1:${port}`;
  store = new S3rver({
    port,
    address: "127.0.0.1",
    silent: true,
    directory: folder,
    configureBuckets: [{ name: bucket }],
  });
  await store.run();
  client = new S3Client({ endpoint, region, credentials: account, forcePathStyle: true });
  server = await Server.start(
    settings(endpoint, ["store-s3.path_style=true", "store-s3.prefix=board/", "files.sweep_seconds=1"]),
  );
  browser = await member(server, "ada@example.com");
});
after(async () => {
  await server?.end();
  await store?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Somebody signed in, in a workspace of his own. */
async function member(of, email) {
  const signedIn = await person(of, email);
  const made = await signedIn.call(of, "POST", "/v1/orgs", { name: "Acme" });
  assert.equal(made.status, 201, made.text);
  return signedIn;
}
async function call(method, path, json, status) {
  const answer = await browser.call(server, method, path, json);
  assert.equal(answer.status, status, answer.text);
  return answer.json;
}
const announce = (more = {}) =>
  call("POST", "/v1/files:presign", { filename: "é.png", content_type: "image/png", size_bytes: 9000, ...more }, 201);

async function send(announced, bytes) {
  const form = new FormData();
  for (const [name, value] of Object.entries(announced.upload_url_fields)) form.append(name, value);
  form.append("file", new Blob([bytes]), "whatever.bin");
  const answer = await fetch(announced.upload_url, { method: announced.upload_url_method, body: form });
  assert.equal(answer.status, 204, await answer.text());
  assert.ok(await until(() => isWhole(announced.upload_url_fields.key, Buffer.byteLength(bytes))));
}
/** s3rver answers when it has read everything, and may still be writing. */
async function isWhole(key, size) {
  const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key })).catch(() => null);
  return head?.ContentLength === size;
}
async function keys() {
  const listed = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
  return (listed.Contents ?? []).map((each) => each.Key);
}
const decoded = (policy) => JSON.parse(Buffer.from(policy, "base64").toString());
const timeOf = (stamp) =>
  Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));

test("a file goes to the bucket and comes back", async () => {
  const announced = await announce();
  await send(announced, png);
  const file = await call("POST", `/v1/files/${announced.id}:commit`, undefined, 200);
  assert.equal(file.status, "available");
  assert.equal(file.size_bytes, png.length);
  const got = await fetch(file.url);
  assert.equal(got.status, 200);
  assert.equal(got.headers.get("content-type"), "image/png");
  assert.equal(got.headers.get("content-disposition"), `inline; filename="_.png"; filename*=UTF-8''%C3%A9.png`);
  assert.match(got.headers.get("cache-control"), /^private, max-age=\d+$/);
  assert.deepEqual(Buffer.from(await got.arrayBuffer()), png);
});

test("pages may send files to the bucket and show pictures from it, and reach nothing else", async () => {
  const { headers } = await fetch(server.url + "/login", { headers: { Accept: "text/html" } });
  const policy = Object.fromEntries(headers.get("content-security-policy").split("; ").map((each) => each.split(/ (.*)/)));
  assert.equal(policy["connect-src"], `'self' ${endpoint}`);
  assert.equal(policy["img-src"], `'self' data: blob: ${endpoint}`);
  assert.equal(policy["default-src"], "'self'");
});

test("a picture leads to the bucket", async () => {
  const announced = await announce({ purpose: "avatar" });
  await send(announced, png);
  await call("POST", `/v1/files/${announced.id}:commit`, undefined, 200);
  const { avatar_url: address } = await call("PATCH", "/v1/me/profile", { avatar_file_id: announced.id }, 200);
  const got = await fetch(address);
  assert.equal(got.status, 200);
  assert.ok(got.redirected && got.url.startsWith(endpoint));
  assert.deepEqual(Buffer.from(await got.arrayBuffer()), png);
});

test("a report's screenshot goes there, too", async () => {
  const wanted = { filename: "shot.png", content_type: "image/png", size_bytes: 6000 };
  const announced = await call("POST", "/v1/feedback/screenshots:presign", wanted, 201);
  const { conditions } = decoded(announced.upload_url_fields.Policy);
  assert.ok(conditions.some((each) => String(each) === "content-length-range,1,6000"));
  await call("POST", `/v1/feedback/screenshots/${announced.id}:commit`, undefined, 409);
  await send(announced, png);
  const file = await call("POST", `/v1/feedback/screenshots/${announced.id}:commit`, undefined, 200);
  assert.deepEqual([file.status, file.purpose], ["available", "feedback_screenshot"]);
  assert.deepEqual(Buffer.from(await (await fetch(file.url)).arrayBuffer()), png);
  const report = { type: "bug", message: "Look", screenshot_file_id: announced.id };
  const given = await call("POST", "/v1/feedback", report, 201);
  assert.equal(given.screenshot_file_id, announced.id);
  const other = await announce();
  await send(other, png);
  await call("POST", `/v1/feedback/screenshots/${other.id}:commit`, undefined, 404);
});

test("what is not what it was announced as is removed", async () => {
  const announced = await announce();
  await send(announced, "<html><script>alert(1)</script>");
  const refused = await call("POST", `/v1/files/${announced.id}:commit`, undefined, 422);
  assert.match(refused.message + JSON.stringify(refused.detail), /image\/png/);
  assert.deepEqual((await keys()).filter((each) => each.includes(announced.id)), []);
  await send(announced, png);
  await call("POST", `/v1/files/${announced.id}:commit`, undefined, 200);
});

test("more than was announced is refused, since s3rver lets it pass", async () => {
  const announced = await announce({ size_bytes: 100 });
  await send(announced, png);
  await call("POST", `/v1/files/${announced.id}:commit`, undefined, 422);
  assert.deepEqual((await keys()).filter((each) => each.includes(announced.id)), []);
});

test("nothing uploaded is nothing to commit", async () => {
  const announced = await announce();
  const refused = await call("POST", `/v1/files/${announced.id}:commit`, undefined, 409);
  assert.equal(refused.additional_data.reason, "upload_missing");
});

test("a form sent again after the commit changes nothing", async () => {
  const announced = await announce();
  await send(announced, png);
  const before = await call("POST", `/v1/files/${announced.id}:commit`, undefined, 200);
  await send(announced, Buffer.concat([png, Buffer.from("other")]));
  const again = await call("POST", `/v1/files/${announced.id}:commit`, undefined, 200);
  assert.equal(again.sha256, before.sha256);
  assert.deepEqual(Buffer.from(await (await fetch(again.url)).arrayBuffer()), png);
});

test("a deleted file leaves the bucket", async () => {
  const announced = await announce();
  await send(announced, png);
  await call("POST", `/v1/files/${announced.id}:commit`, undefined, 200);
  assert.ok((await keys()).every((each) => each.startsWith("board/")));
  await call("DELETE", `/v1/files/${announced.id}`, undefined, 204);
  assert.ok(await until(async () => !(await keys()).some((each) => each.includes(announced.id))));
});

test("a form is what the SDK would make, field by field", async () => {
  for (const more of [{}, { content_type: "text/plain", filename: "notes.txt", size_bytes: undefined }]) {
    const { upload_url_fields: ours, upload_url: url } = await announce(more);
    const signedAt = timeOf(ours["X-Amz-Date"]);
    const { expiration, conditions } = decoded(ours.Policy);
    const range = conditions.find((each) => Array.isArray(each));
    assert.deepEqual(range, ["content-length-range", 1, "size_bytes" in more ? 20 << 20 : 9000]);
    const sdk = new S3Client({
      endpoint,
      region,
      credentials: account,
      forcePathStyle: true,
      systemClockOffset: signedAt - Date.now(),
    });
    // Its clock goes on; a second in which it does not turn is soon found.
    let theirs;
    for (let i = 0; i < 20; i += 1) {
      sdk.config.systemClockOffset = signedAt - Date.now();
      theirs = await createPresignedPost(sdk, {
        Bucket: bucket,
        Key: ours.key,
        Conditions: [range],
        Fields: { "Content-Type": ours["Content-Type"] },
        Expires: (Date.parse(expiration) - signedAt) / 1000,
      });
      if (theirs.fields["X-Amz-Date"] === ours["X-Amz-Date"]) break;
    }
    assert.deepEqual(decoded(ours.Policy), decoded(theirs.fields.Policy));
    assert.deepEqual({ ...ours }, { ...theirs.fields });
    assert.equal(url.replace(/\/$/, ""), theirs.url.replace(/\/$/, ""));
  }
});

test("a form says how long it is good", async () => {
  const announced = await announce();
  const { expiration } = decoded(announced.upload_url_fields.Policy);
  assert.equal(Date.parse(expiration), Math.floor(Date.parse(announced.upload_expires_at) / 1000) * 1000);
});

/** The link's parameters as the SDK would sign the same request at the same time. */
async function signedBySdk(link) {
  const query = Object.fromEntries(link.searchParams);
  const rest = Object.fromEntries(Object.entries(query).filter(([name]) => !name.startsWith("X-Amz-")));
  const sdk = new S3Client({ endpoint, region, credentials: account, forcePathStyle: true });
  const signed = await new S3RequestPresigner({ ...sdk.config }).presign(
    {
      method: "GET",
      protocol: link.protocol,
      hostname: link.hostname,
      port: link.port ? Number(link.port) : undefined,
      path: link.pathname,
      query: rest,
      headers: { host: link.host },
    },
    { expiresIn: Number(query["X-Amz-Expires"]), signingDate: new Date(timeOf(query["X-Amz-Date"])) },
  );
  return signed.query;
}

test("a link is what the SDK would sign, field by field", async () => {
  const announced = await announce();
  await send(announced, png);
  const { url } = await call("POST", `/v1/files/${announced.id}:commit`, undefined, 200);
  const link = new URL(url);
  assert.deepEqual(Object.fromEntries(link.searchParams), { ...(await signedBySdk(link)) });
  assert.equal(link.searchParams.get("response-content-type"), "image/png");
  assert.ok(Number(link.searchParams.get("X-Amz-Expires")) <= 600);
});

test("a bucket may stand in front of the host, and have another address for browsers", async () => {
  const other = await Server.start(
    settings("http://127.0.0.1:9", ["store-s3.public_endpoint=https://s3.example.com"]),
  );
  try {
    const someone = await member(other, "bob@example.com");
    const answer = await someone.call(other, "POST", "/v1/files:presign", {
      filename: "a.png",
      content_type: "image/png",
    });
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.json.upload_url, `https://${bucket}.s3.example.com/`);
    const sdk = new S3Client({ endpoint: "https://s3.example.com", region, credentials: account });
    const theirs = await createPresignedPost(sdk, { Bucket: bucket, Key: answer.json.upload_url_fields.key });
    assert.equal(answer.json.upload_url.replace(/\/$/, ""), theirs.url.replace(/\/$/, ""));
  } finally {
    await other.end();
  }
});

test("a backup takes the bytes out of the bucket, and a restore puts them into another", async () => {
  const announced = await announce();
  await send(announced, png);
  await call("POST", `/v1/files/${announced.id}:commit`, undefined, 200);
  const { token } = await call("POST", "/v1/tokens", { kind: "integration", name: "after the restore" }, 201);
  const saved = join(folder, "saved.tar");
  // Not waited for by a blocked thread: the bucket is served by this process.
  const workboard = (words, of) => {
    const flags = ["--var", of.folder].concat(of.settings.flatMap((each) => ["--set", each]));
    return promisify(execFile)(join(process.env.WORKBOARD_BUILD, "bin/workboard"), words.concat(flags));
  };
  await workboard(["backup", saved], server);

  const again = settings(endpoint, ["store-s3.path_style=true", "store-s3.prefix=again/"]);
  const other = new Server(await freePort(), again, { ownDatabase: true }); // a restore wants an empty one
  try {
    await workboard(["restore", saved], other);
    const back = (await keys()).filter((each) => each.startsWith("again/"));
    assert.ok(back.some((each) => each.includes(announced.id)), back.join(" "));
    await other.start();
    const headers = { "X-Board-Version": "2026-06-19", Authorization: `Bearer ${token}` };
    const answer = await fetch(`${other.url}/v1/files/${announced.id}`, { headers });
    assert.equal(answer.status, 200, await answer.clone().text());
    const { url } = await answer.json();
    assert.match(new URL(url).pathname, /\/again\//);
    assert.deepEqual(Buffer.from(await (await fetch(url)).arrayBuffer()), png);
  } finally {
    await other.end();
  }
});

test("a store that does not answer is a 503, and nothing else waits for it", async () => {
  const asked = [];
  const silent = createServer((request) => asked.push(request.method)); // and no answer, ever
  silent.listen(0, "127.0.0.1");
  await new Promise((done) => silent.once("listening", done));
  const slow = await Server.start(
    settings(`http://127.0.0.1:${silent.address().port}`, ["store-s3.path_style=true", "store-s3.timeout_seconds=8"]),
  );
  try {
    const someone = await member(slow, "eve@example.com");
    const made = await someone.call(slow, "POST", "/v1/files:presign", { filename: "a", content_type: "a/b" });
    let answered = 0;
    const commits = Array.from({ length: 8 }, () =>
      someone.call(slow, "POST", `/v1/files/${made.json.id}:commit`).finally(() => (answered += 1)),
    );
    assert.ok(await until(() => asked.length > 0));
    assert.equal((await someone.call(slow, "GET", "/v1/me")).status, 200);
    assert.equal(answered, 0);
    for (const answer of await Promise.all(commits)) assert.equal(answer.status, 503, answer.text);
    assert.ok(asked.length < 8, `asked ${asked.length} times for eight`);
  } finally {
    await slow.end();
    silent.closeAllConnections();
    silent.close();
  }
});

test("half a setting is refused at the start", async () => {
  const broken = new Server(await freePort(), [`store-s3.bucket=${bucket}`]);
  await assert.rejects(broken.start(), /access_key/);
  await broken.end();
});
