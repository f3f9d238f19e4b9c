// Puts together the folders that the server serves, `www` at / and `docs` at /docs:
//   node pack.mjs <folder of node_modules> <what vite built> <folder to put them in>
// The console is one page, which stands at each of its addresses (src/app/addresses.ts): one that needs
// an operation is there only where the server has it, and `each.html` is the page of every name in its
// folder. Its head says what the server serves, in a line that is left out where it does not. Files that
// are worth it get .br and .gz variants beside them.
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const [modules, built, target] = process.argv.slice(2);
if (!target) {
  console.error("usage: node pack.mjs <folder of node_modules> <what vite built> <folder to put them in>");
  process.exit(2);
}
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { addresses, names } = JSON.parse(readFileSync(join(built, "addresses.json"), "utf8"));

const vendored = {
  "swagger-ui.css": "swagger-ui-dist/swagger-ui.css",
  "swagger-ui-bundle.js": "swagger-ui-dist/swagger-ui-bundle.js",
  "swagger-ui.LICENSE.txt": "swagger-ui-dist/LICENSE",
  "swagger-ui-bundle.LICENSE.txt": "swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt",
};

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((each) => {
    const path = join(folder, each.name);
    return each.isDirectory() ? filesBelow(path) : [path];
  });
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** The console's page, with what depends on the server between marks that it reads. */
function consolePage() {
  const serves = names.map((name) => `<!-- if ${name} -->\n  <meta name="serves" content="${name}">\n<!-- end -->`);
  const page = readFileSync(join(built, "index.html"), "utf8");
  const mark = "  <!-- what the server serves -->";
  if (!page.includes(mark)) throw new Error("index.html has lost its mark for what the server serves");
  return page.replace(mark, serves.join("\n"));
}

function makeConsole(www) {
  cpSync(built, www, { recursive: true, filter: (path) => !/(index\.html|addresses\.json)$/.test(path) });
  const page = consolePage();
  for (const { path, needs } of addresses) {
    const place = path === "/" ? "index.html" : path.replace(/^\//, "").replace(/\/:\w+$/, "/each.html").replace(/^([^.]+)$/, "$1/index.html");
    write(join(www, place), needs ? `<!-- only if ${needs} -->\n${page}` : page);
  }
  write(join(www, "404.html"), page.replace("<title>Workboard<", "<title>Nothing here – Workboard<"));
}

/** Maps do not travel with the files they are about. */
const withoutSourceMap = (text) => text.replace(/\n?(\/\/|\/\*)# sourceMappingURL=[^\n]*\n?$/, "\n");

/** The reference: Swagger UI as its makers ship it, around our own page. Scripts and styles have a
    digest in their names, so that browsers may keep them for good. */
function makeDocs(docs) {
  const renamed = new Map();
  const sources = [
    ...filesBelow(here("docs")).map((path) => [path.slice(here("docs").length + 1), path]),
    ...Object.entries(vendored).map(([name, path]) => [name, join(modules, path)]),
  ];
  for (const [name, path] of sources) {
    if (name.endsWith(".html")) continue;
    const isCode = /\.(css|js)$/.test(name);
    const content = isCode ? Buffer.from(withoutSourceMap(readFileSync(path, "utf8"))) : readFileSync(path);
    const digest = createHash("sha256").update(content).digest("hex").slice(0, 12);
    const lasting = isCode ? name.replace(/\.(\w+)$/, `.${digest}.$1`) : name;
    renamed.set(`/docs/${name}`, `/docs/${lasting}`);
    write(join(docs, lasting), content);
  }
  const page = readFileSync(here("docs/index.html"), "utf8");
  write(join(docs, "index.html"), page.replace(/(href|src)="(\/[^"]*)"/g, (_, name, url) => `${name}="${renamed.get(url) ?? url}"`));
}

function compress(path) {
  const content = readFileSync(path);
  if (path.endsWith(".html") && /<!-- (only )?if /.test(content)) return;  // the server puts it together
  // What digests name lives long; 11 on large files takes seconds and saves little.
  const quality = content.length > 300_000 ? 9 : 11;
  for (const [suffix, smaller] of [
    [".br", brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })],
    [".gz", gzipSync(content, { level: 9 })],
  ])
    if (smaller.length < content.length * 0.9) writeFileSync(path + suffix, smaller);
}

const folders = { www: makeConsole, docs: makeDocs };
for (const [name, make] of Object.entries(folders)) {
  const folder = join(target, name);
  if (existsSync(folder)) rmSync(folder, { recursive: true });
  make(folder);
  for (const path of filesBelow(folder)) if (statSync(path).size > 200) compress(path);
}
