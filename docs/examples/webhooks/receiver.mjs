import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WEBHOOK_SECRET;

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

createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  if (!isOurs(request.headers["x-svc-signature"], body)) return response.writeHead(401).end();
  response.writeHead(204).end();
  const event = JSON.parse(body);
  console.log(event.kind, event.data.id);
}).listen(Number(process.env.PORT ?? 9000), "127.0.0.1");
