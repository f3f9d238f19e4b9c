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

const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [accessible],
  validatorUrl: null,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  requestInterceptor: toThisServer,
});
