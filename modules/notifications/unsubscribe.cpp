// The page to which mails lead that somebody wants no more of. Whoever has the address may end
// them, without signing in: it is in the mail alone, and all that it does is this. A GET asks
// first, since programs that look into mails follow links; a POST does it, of the page's button and
// of mail programs (RFC 8058).

#include "modules/auth/api.hpp"
#include "modules/notifications/choices.hpp"
#include "modules/notifications/mails.hpp"

namespace svc::notifications {

namespace {

constexpr std::string_view head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<title>Mails from Workboard</title>
<style>body{font:16px/1.5 sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}
button{font:inherit;padding:.6rem 1.1rem}</style></head>
<body><main><h1>Mails from Workboard</h1>
)";
constexpr std::string_view tail = "</main></body></html>\n";

http::Answer page(int status, const std::string& content) {
    http::Answer answer{.status = status};
    answer.content_type = "text/html; charset=utf-8";
    answer.headers = {
        {"Cache-Control", "no-store"},
        {"Content-Security-Policy",
         "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
         "frame-ancestors 'none'"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Content-Type-Options", "nosniff"},
    };
    answer.body = std::string(head) + content + std::string(tail);
    return answer;
}

std::string about(const Unsubscribing& what) {
    if (!what.kind) return "digests of what is new";
    std::string kind(name_of(*what.kind));
    for (char& each : kind)
        if (each == '_') each = ' ';
    return "single mails of the kind “" + kind + "”";
}

void end(auth::Preferences& chosen, const Unsubscribing& what) {
    if (what.kind) (chosen.notifications.*choice_of(*what.kind)).email = false;
    else chosen.email_digest = auth::EmailDigest::off;
}

http::Answer unsubscribe(Kernel& kernel, const Unsubscribing& what) {
    bool known = false;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(std::nullopt, what.person);
        known = kernel.use<auth::PreferenceChanges>().change(
            tx, what.person, [&](auth::Preferences& chosen) { end(chosen, what); }
        );
    });
    if (!known) return page(404, "<p>There is no such account any more.</p>\n");
    return page(
        200,
        "<p>You get no more " + about(what) +
            ". Your preferences have it too, where you can change it back.</p>\n"
    );
}

std::string token_in(const http::Request& request) {
    const auto query = http::parse_query(request.query);
    if (query)
        for (const auto& [name, value] : *query)
            if (name == "token") return value;
    return {};
}

http::Answer answer(Kernel& kernel, const http::Request& request) {
    const auto what = read_unsubscribe_token(kernel, token_in(request));
    if (!what)
        return page(
            404, "<p>This address is not one of ours. Follow the link in the mail once more.</p>\n"
        );
    if (request.method == "POST") return unsubscribe(kernel, *what);
    return page(
        200,
        "<p>No more " + about(*what) +
            "?</p>\n<form method=\"post\"><button>Send me no more of them</button></form>\n"
    );
}

}  // namespace

void add_unsubscribe_page(Kernel& kernel) {
    for (const char* method : {"GET", "POST"})
        kernel.add(Route{
            .method = method,
            .path = "/unsubscribe",
            .body_limit = 4096,
            .handle = [&kernel](RouteCall& call) { return answer(kernel, call.request()); },
        });
}

}  // namespace svc::notifications
