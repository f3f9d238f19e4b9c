// The version of the interface these pages were written against; the server asks that a client
// names one.
const boardVersion = "2026-06-19";

function cookie(name) {
  const pair = document.cookie.split("; ").find((each) => each.startsWith(name + "="));
  return pair && decodeURIComponent(pair.slice(name.length + 1));
}

/** Every request goes to the server this page came from, whatever address that calls its own. */
function toThisServer(request) {
  const url = new URL(request.url, location.href);
  request.url = url.pathname + url.search;
  if (!url.pathname.startsWith("/v1/")) return request;
  request.headers["X-Board-Version"] ??= boardVersion;
  const csrf = cookie("svc_csrf");
  if (csrf && !request.headers.Authorization && !["GET", "HEAD"].includes(request.method))
    request.headers["X-CSRF-Token"] ??= csrf;
  return request;
}

/** What a keyboard and a screen reader miss in Swagger UI: a link inside a button is one thing too
 *  many (opening an operation already puts its address into the location bar), and a field needs
 *  a name. */
const accessible = () => ({
  wrapComponents: {
    DeepLink: (_, { React }) => ({ text }) => React.createElement("span", null, text),
    TextArea: (Original, { React }) => (props) =>
      React.createElement(Original, { "aria-label": "Request body", ...props }),
  },
});

const at = (document, path) => path.reduce((inner, key) => inner?.[key], document);

/** What references in a part of the document name, in their places, each with what stands beside it and,
 *  as $$ref, its own name: Swagger UI's title of a schema. One to what it stands in itself is left. */
function withoutReferences(document, value, within = []) {
  if (Array.isArray(value)) return value.map((each) => withoutReferences(document, each, within));
  if (value === null || typeof value !== "object") return value;
  const { $ref: name, ...beside } = value;
  if (typeof name !== "string") // a property may be called so
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutReferences(document, each, within)]));
  if (within.includes(name)) return value;
  const keys = name.slice(2).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return withoutReferences(document, { ...at(document, keys), ...beside, $$ref: name }, [...within, name]);
}

/** Swagger UI takes the whole document apart for each operation that is opened, which takes seconds. All
 *  references in ours are to itself, so it is enough to follow those of the part that is asked for. */
const quick = () => ({
  fn: {
    resolveSubtree: async (document, path) => ({ spec: withoutReferences(document, at(document, path)), errors: [] }),
  },
});

const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [accessible, quick],
  validatorUrl: null,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  requestInterceptor: toThisServer,
});
