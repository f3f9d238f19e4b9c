#include "svc/failure.hpp"

#include "decl/reader.hpp"

#include "svc/record.hpp"

#include <array>

namespace svc {

namespace {

struct Row {
    Fault fault;
    int status;
    std::string_view code;
};

constexpr std::array table{
    Row{Fault::missing_version, 400, "missing_version"},
    Row{Fault::unauthorized, 401, "unauthorized"},
    Row{Fault::plan_limit, 402, "plan_limit_reached"},
    Row{Fault::past_due, 402, "workspace_past_due"},
    Row{Fault::restricted, 403, "restricted_resource"},
    Row{Fault::csrf, 403, "csrf_failed"},
    Row{Fault::unverified, 403, "email_not_verified"},
    Row{Fault::not_found, 404, "object_not_found"},
    Row{Fault::no_route, 404, "invalid_request_url"},
    Row{Fault::wrong_method, 405, "invalid_request"},
    Row{Fault::conflict, 409, "conflict_error"},
    Row{Fault::lease_lost, 409, "lease_lost"},
    Row{Fault::wip_limit, 409, "wip_limit_reached"},
    Row{Fault::version_conflict, 412, "version_conflict"},
    Row{Fault::too_large, 413, "request_too_large"},
    Row{Fault::unsupported_media, 415, "unsupported_media_type"},
    Row{Fault::invalid, 422, "validation_error"},
    Row{Fault::rate_limited, 429, "rate_limited"},
    Row{Fault::internal, 500, "internal_server_error"},
    Row{Fault::unavailable, 503, "service_unavailable"},
    Row{Fault::timed_out, 504, "gateway_timeout"},
};

constexpr const Row& row(Fault fault) { return table[static_cast<std::size_t>(fault)]; }

constexpr bool in_enum_order() {
    for (std::size_t i = 0; i < table.size(); ++i)
        if (static_cast<std::size_t>(table[i].fault) != i) return false;
    return true;
}
static_assert(in_enum_order(), "the table is indexed by Fault");

void write_member(std::string_view key, std::string& out) {
    if (out.back() != '{') out += ',';
    write_text(key, out);
    out += ':';
}

}  // namespace

struct Failure::Details {
    std::string code;
    std::string detail;            // a JSON array, for 422
    std::string additional = "{";  // an open JSON object
    std::vector<std::pair<std::string, std::string>> headers;
};

Failure::Failure(Fault fault, const std::string& message)
    : std::runtime_error(message), fault_(fault), details_(std::make_shared<Details>()) {
    details_->code = row(fault).code;
    if (fault == Fault::unauthorized) details_->headers.emplace_back("WWW-Authenticate", "Bearer");
}

Failure::~Failure() = default;

Failure Failure::invalid_input(std::string detail) {
    Failure failure(Fault::invalid, "Some fields are not as they should be; see `detail`.");
    failure.details_->detail = std::move(detail);
    return failure;
}

Failure Failure::invalid_at(std::string_view loc, std::string_view type, std::string_view message) {
    return invalid_input('[' + issue_at(loc, type, message) + ']');
}

std::string Failure::issue_at(
    std::string_view loc, std::string_view type, std::string_view message
) {
    std::string issue = R"({"loc":)";
    issue += loc;
    issue += R"(,"msg":)";
    decl::write_sentence(message, issue);
    issue += R"(,"type":)";
    write_text(type, issue);
    return issue += '}';
}

Failure&& Failure::with(std::string_view key, std::string value) && {
    write_member(key, details_->additional);
    write_text(value, details_->additional);
    return std::move(*this);
}

Failure&& Failure::with(std::string_view key, std::vector<std::string> values) && {
    write_member(key, details_->additional);
    Json<std::vector<std::string>>::write(values, details_->additional);
    return std::move(*this);
}

Failure&& Failure::with_header(std::string_view name, std::string value) && {
    details_->headers.emplace_back(name, std::move(value));
    return std::move(*this);
}

Failure&& Failure::with_code(std::string code) && {
    details_->code = std::move(code);
    return std::move(*this);
}

int Failure::status() const { return row(fault_).status; }
std::string_view Failure::code() const { return details_->code; }

std::string Failure::body(std::string_view request_id) const {
    std::string out = R"({"object":"error","status":)" + std::to_string(status()) + R"(,"code":)";
    write_text(details_->code, out);
    out += R"(,"message":)";
    write_text(what(), out);
    out += R"(,"request_id":)";
    write_text(request_id, out);
    if (details_->additional.size() > 1)
        out += R"(,"additional_data":)" + details_->additional + '}';
    if (!details_->detail.empty()) out += R"(,"detail":)" + details_->detail;
    out += '}';
    return out;
}

const std::vector<std::pair<std::string, std::string>>& Failure::headers() const {
    return details_->headers;
}

void not_found(std::string_view thing) {
    throw Failure(Fault::not_found, "There is no such " + std::string(thing) + ".");
}

}  // namespace svc
