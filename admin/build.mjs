// Makes the folders that the server serves, `www` at / and `docs` at /docs:
//   node build.mjs <folder of node_modules> <folder to put them in>
// A page of www that is an <account-page> is put into account-page.html, which has what they share.
// Style sheets and scripts get a name with a digest of their content, so that browsers may keep
// them for good; what is worth it gets .br and .gz variants beside it.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const source = fileURLToPath(new URL("src", import.meta.url));
const [modules, target] = process.argv.slice(2);
if (!modules || !target) {
  console.error("usage: node build.mjs <folder of node_modules> <folder to put them in>");
  process.exit(2);
}

const vendored = {
  "docs/swagger-ui.css": "swagger-ui-dist/swagger-ui.css",
  "docs/swagger-ui-bundle.js": "swagger-ui-dist/swagger-ui-bundle.js",
  "docs/swagger-ui.LICENSE.txt": "swagger-ui-dist/LICENSE",
  "docs/swagger-ui-bundle.LICENSE.txt": "swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt",
};

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((each) => {
    const path = join(folder, each.name);
    return each.isDirectory() ? filesBelow(path) : [path];
  });
}

const frame = readFileSync(new URL("account-page.html", import.meta.url), "utf8");

/** An <account-page> within the frame; everything else as it is. */
function framed(name, content) {
  if (!name.endsWith(".html") || !content.includes("<account-page")) return content;
  const page = /^<account-page title="([^"]+)" scripts="([^"]+)">\n(.*)\n<\/account-page>\n$/s.exec(content);
  if (!page) throw new Error(`${name}: an account page has a title, scripts and nothing around it`);
  const [, title, scripts, main] = page;
  const parts = {
    title,
    scripts: scripts.split(" ").map((each) => `  <script src="${each}" defer></script>`).join("\n"),
    main: main.replace(/^(?=.)/gm, "  "),
  };
  return Buffer.from(frame.replace(/\{(title|scripts|main)\}/g, (whole, part) => parts[part]));
}

/** Every file by its path below the target. */
function collect() {
  const files = new Map();
  for (const path of filesBelow(source)) {
    const name = relative(source, path);
    files.set(name, framed(name, readFileSync(path)));
  }
  for (const [name, path] of Object.entries(vendored))
    files.set(name, readFileSync(join(modules, path)));
  return files;
}

/** Maps do not travel with the files they are about. */
function withoutSourceMap(name, content) {
  if (!/\.(css|js)$/.test(name)) return content;
  return Buffer.from(content.toString().replace(/\n?(\/\/|\/\*)# sourceMappingURL=[^\n]*\n?$/, "\n"));
}

function urlOf(name) {
  return "/" + name.replace(/^www\//, "");
}

/** The names with digests, and the pages that refer to them. */
function withDigests(files) {
  const renamed = new Map();
  const site = new Map();
  for (const [name, content] of files) {
    if (name.endsWith(".html")) continue;
    const body = withoutSourceMap(name, content);
    const digest = createHash("sha256").update(body).digest("hex").slice(0, 12);
    const lasting = /\.(css|js)$/.test(name) ? name.replace(/\.(\w+)$/, `.${digest}.$1`) : name;
    renamed.set(urlOf(name), urlOf(lasting));
    site.set(lasting, body);
  }
  for (const [name, content] of files) {
    if (!name.endsWith(".html")) continue;
    const page = content.toString().replace(/(href|src)="(\/[^"]*)"/g, (whole, attribute, url) =>
      renamed.has(url) ? `${attribute}="${renamed.get(url)}"` : whole);
    site.set(name, Buffer.from(page));
  }
  return site;
}

function write(name, content) {
  const path = join(target, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function writeCompressed(name, content) {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  for (const [suffix, smaller] of [
    [".br", brotliCompressSync(content, quality)],
    [".gz", gzipSync(content, { level: 9 })],
  ])
    if (smaller.length < content.length * 0.9) write(name + suffix, smaller);
}

for (const folder of readdirSync(source)) rmSync(join(target, folder), { recursive: true, force: true });
for (const [name, content] of withDigests(collect())) {
  write(name, content);
  writeCompressed(name, content);
}
