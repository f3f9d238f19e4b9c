#include "core/rest_call.hpp"

#include "http/content_coding.hpp"

#include <charconv>
#include <ranges>

namespace svc::core {

namespace {

/// If-Match as the contract takes it: "7", 7 or *. What is sent and says nothing is not taken for
/// leave to overwrite.
std::optional<std::int64_t> parse_if_match(std::string_view text) {
    if (text == "*") return std::nullopt;
    std::string_view digits = text;
    if (digits.size() > 1 && digits.front() == '"' && digits.back() == '"')
        digits = digits.substr(1, digits.size() - 2);
    std::int64_t version = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), version);
    if (error == std::errc{} && end == digits.end() && version > 0) return version;
    throw Failure::invalid_at(
        R"(["header","if-match"])", "value_error", "should be a version, such as \"7\", or *"
    );
}

Failure no_id_in_query() {
    return Failure::invalid_at(R"(["query","org_id"])", "uuid_parsing", "Should be a UUID");
}

}  // namespace

RestCall::RestCall(const Match& match, const http::Request& request)
    : operation_(match.endpoint->operation()), request_(request) {
    const auto& names = match.endpoint->parameters;
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto value = http::decode(match.values[i], http::Decode::path);
        if (!value) not_found("thing");  // an escape that spells no text names nothing
        parts_.path.emplace_back(names[i], std::move(*value));
    }
    parts_.request = &request;
    find_workspace();
}

RestCall::~RestCall() = default;

void RestCall::find_workspace() {
    const auto by_header = org_in_header(request_, bad_workspace_);
    std::optional<Uuid> by_place;
    bool in_path = false;
    for (const auto& [name, value] : parts_.path)
        if (name == "org_id") in_path = true, by_place = Uuid::parse(value);
    if (!in_path && request_.query.find("org_id") != request_.query.npos &&
        operation_.handler.input->find("org_id"))
        if (const auto pairs = http::parse_query(request_.query))
            for (const auto& [name, value] : *pairs) {
                if (name != "org_id") continue;
                by_place = Uuid::parse(value);
                if (!by_place) bad_workspace_ = no_id_in_query();
            }
    requested_org_ = by_place ? by_place : by_header;
    if (!by_header || !by_place || *by_header == *by_place) return;
    if (in_path) bad_workspace_ = Failure(Fault::not_found, "There is no such workspace.");
    else
        bad_workspace_ = Failure::invalid_at(
            R"(["query","org_id"])", "value_error", "X-Svc-Org names another workspace"
        );
}

void RestCall::check_workspace() const {
    if (bad_workspace_) throw *bad_workspace_;
}

void RestCall::check_syntax() {
    check_workspace();
    if (operation_.versioned && request_.has("if-match"))
        expected_version_ = parse_if_match(request_.header("if-match"));
    if (operation_.under_lease && request_.has("x-svc-lease") && named_lease().empty())
        throw Failure::invalid_at(
            R"(["header","x-svc-lease"])", "value_error", "should be the token of a lease"
        );
    if (!input_) input_.emplace(operation_, parts_);
}

void RestCall::fill(void* input) { input_->fill(input); }

std::optional<Input::Subject> RestCall::subject() const {
    for (const auto& [name, value] : std::views::reverse(parts_.path))
        if (const auto id = Uuid::parse(value)) return Subject{name, *id};
    return std::nullopt;
}

/// A version stands for what was written, and not for all that an answer shows: whether a card has
/// to wait, who leases it, how many comments it has. So what has a version is always sent.
void RestCall::not_modified(http::Answer& answer) const {
    if (request_.method != "GET" && request_.method != "HEAD") return;
    if (operation_.handler.output.versioned) return;
    const auto known = request_.header("if-none-match");
    if (known.empty() || answer.status != 200) return;
    for (const auto& [name, value] : answer.headers)
        if (name == "ETag" && http::names_tag(known, value)) {
            answer.status = 304;
            answer.body.clear();
            return;
        }
}

}  // namespace svc::core
