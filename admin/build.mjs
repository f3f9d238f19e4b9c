// Makes the folders that the server serves, `www` at / and `docs` at /docs:
//   node build.mjs <folder of node_modules> <folder to put them in>
// What pages share is written once: a page is <page title="…" styles="…" scripts="…"> around its body,
// which frame.html goes around; `needs` names what the server has to serve for the page to be there,
// and `heading` makes it one of the small pages, which have a heading, a way home and page.js. A line
// <part name="…"> stands for parts/….html, in which {names} are the line's other attributes.
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

const frame = readFileSync(new URL("frame.html", import.meta.url), "utf8");
const indented = (text, by) => text.replace(/^(?=.)/gm, " ".repeat(by));

/** `a="1" b="2"` as { a: "1", b: "2" }. */
const attributes = (text) => Object.fromEntries([...text.matchAll(/([a-z]+)="([^"]*)"/g)].map((each) => each.slice(1)));

/** The text with its parts in their places, each as far to the right as its line. */
function withParts(text) {
  return text.replace(/^( *)<part ((?:[a-z]+="[^"]*" ?)+)>$/gm, (_, indent, about) => {
    const { name, ...values } = attributes(about);
    const part = readFileSync(new URL(`parts/${name}.html`, import.meta.url), "utf8").trimEnd();
    const filled = part.replace(/\{([a-z]+)\}/g, (_, value) => {
      if (values[value] === undefined) throw new Error(`the part ${name} takes ${value}`);
      return values[value];
    });
    return indented(filled, indent.length);
  });
}

/** The body of a small page. */
const smallPage = (heading, main) => `<header>
  <p class="brand"><img src="/favicon.svg" alt="" width="32" height="32"><a href="/">Workboard</a></p>
  <h1 tabindex="-1">${heading}</h1>
</header>
<main>
${indented(main, 2)}
</main>`;

/** A <page> within the frame; everything else as it is. */
function framed(name, content) {
  if (!name.endsWith(".html")) return content;
  const page = /^<page ([^>]+)>\n(.*)\n<\/page>\n$/s.exec(content);
  if (!page) throw new Error(`${name}: a page is a <page> with nothing around it`);
  const about = attributes(page[1]);
  const main = withParts(page[2]);
  const words = (text) => (text ?? "").split(" ").filter(Boolean);
  const parts = {
    title: about.title ?? `${about.heading} – Workboard`,
    head: [
      ...(about.description ? [`<meta name="description" content="${about.description}">`] : ['<meta name="robots" content="noindex">']),
      ...words(about.styles ?? "/start.css").map((each) => `<link rel="stylesheet" href="${each}">`),
      ...(about.heading && about.scripts ? ["/page.js"] : []).concat(words(about.scripts)).map((each) => `<script src="${each}" defer></script>`),
    ].map((line) => "  " + line).join("\n"),
    class: about.class ? ` class="${about.class}"` : "",
    body: indented(about.heading ? smallPage(about.heading, main) : main, 2)
      // What a browser shows as it stands, and what the server looks for at the start of a line.
      .replace(/(<pre[^]*?<\/pre>)/g, (sample) => sample.replace(/^ {2}/gm, ""))
      .replace(/^ +(?=<!-- (if|end))/gm, ""),
  };
  const whole = frame.replace(/\{(title|head|class|body)\}/g, (_, part) => parts[part]);
  return Buffer.from(about.needs ? `<!-- only if ${about.needs} -->\n${whole}` : whole);
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
  if (name.endsWith(".html") && /<!-- (only )?if /.test(content)) return;  // the server puts it together
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
