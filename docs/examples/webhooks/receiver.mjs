import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WEBHOOK_SECRET;
const longest = 1 << 20; // bytes; an event has 256 KiB at most, but anybody may post here

function isOurs(header, body) {
  const parts = (header ?? "").split(",").map((part) => part.split("=", 2));
  const time = parts.find(([name]) => name === "t")?.[1];
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < 300)) return false;
  const wanted = createHmac("sha256", secret).update(`${time}.`).update(body).digest();
  return parts.some(([name, hex]) => {
    const given = Buffer.from(hex ?? "", "hex");
    return name === "v1" && given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

/** The body; null when it is too long. */
async function bodyOf(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if ((size += chunk.length) > longest) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function receive(request, response) {
  const body = await bodyOf(request);
  if (!body) return response.writeHead(413, { Connection: "close" }).end();
  if (!isOurs(request.headers["x-svc-signature"], body)) return response.writeHead(401).end();
  response.writeHead(204).end();
  const event = JSON.parse(body);
  console.log(event.kind, event.data.id);
}

createServer((request, response) => {
  receive(request, response).catch((error) => {
    console.error("a request broke off:", error.message);
    response.destroy();
  });
}).listen(Number(process.env.PORT ?? 9000), "127.0.0.1");
