// The parts of the OpenAPI document that all operations share (contract 2, 4.4, 4.5).

#include "decl/openapi.hpp"
#include "svc/version.hpp"

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>

#include <algorithm>

namespace svc::decl {

namespace {

struct Refusal {
    int status;
    std::string_view name;
    std::string_view description;
};

constexpr Refusal refusals[] = {
    {400, "MissingVersion", "The request names no version (`missing_version`)."},
    {401, "Unauthorized", "No credential, or one that is not good any more (`unauthorized`)."},
    {402,
     "PaymentRequired",
     "The plan's limit is reached (`plan_limit_reached`), or the workspace is past due "
     "(`workspace_past_due`)."},
    {403,
     "Forbidden",
     "The caller's role does not reach (`restricted_resource`), or a write by cookie lacks its "
     "CSRF token (`csrf_failed`)."},
    {404,
     "NotFound",
     "There is no such thing, or the caller may not know of it (`object_not_found`)."},
    {409,
     "Conflict",
     "The state of things does not allow it (`conflict_error` and others; `additional_data` says "
     "more)."},
    {412,
     "VersionConflict",
     "It has changed since the version that `If-Match` names (`version_conflict`)."},
    {413,
     "TooLarge",
     "The body is larger than this operation takes, or the answer would be larger than the server "
     "sends at once (`request_too_large`)."},
    {415,
     "UnsupportedMediaType",
     "The body has a `Content-Encoding`, or a charset other than UTF-8 "
     "(`unsupported_media_type`)."},
    {422,
     "ValidationFailed",
     "Some of the input is not as it should be; `detail` names every place."},
    {429, "RateLimited", "Too many requests; wait for `Retry-After` seconds (`rate_limited`)."},
    {503,
     "Unavailable",
     "The server, its database or a service that it asks is busy, stopping or not set up; try "
     "again "
     "after `Retry-After` seconds (`service_unavailable`)."},
    {504,
     "TimedOut",
     "It takes longer than the server works on one request; ask for less at a time "
     "(`gateway_timeout`)."},
};

json::object reference(std::string text) { return {{"$ref", std::move(text)}}; }

json::object text(std::string_view description) {
    return {{"type", "string"}, {"description", description}};
}

json::object json_content(std::string_view schema) {
    return {
        {"application/json",
         {{"schema", reference("#/components/schemas/" + std::string(schema))}}}};
}

json::object error_properties() {
    return {
        {"object", {{"type", "string"}, {"const", "error"}, {"description", "Always \"error\"."}}},
        {"status", {{"type", "integer"}, {"description", "The HTTP status once more."}}},
        {"code", text("What went wrong, for programs.")},
        {"message", text("What went wrong, for people.")},
        {"request_id", text("The request's id, as in `X-Request-Id`.")},
        {"additional_data",
         {{"type", "object"},
          {"additionalProperties",
           {{"anyOf",
             json::array{
                 json::object{{"type", "string"}},
                 json::object{{"type", "array"}, {"items", {{"type", "string"}}}}}}}},
          {"description", "More about this code; absent when there is nothing more."}}}};
}

json::array keys_of(std::initializer_list<std::string_view> names) {
    return json::array(names.begin(), names.end());
}

json::object validation_error() {
    const json::array step{json::object{{"type", "string"}}, json::object{{"type", "integer"}}};
    return {
        {"title", "ValidationError"},
        {"type", "object"},
        {"properties",
         {{"loc", {{"title", "Location"}, {"type", "array"}, {"items", {{"anyOf", step}}}}},
          {"msg", {{"title", "Message"}, {"type", "string"}}},
          {"type", {{"title", "Error Type"}, {"type", "string"}}},
          {"input", {{"title", "Input"}}},
          {"ctx", {{"title", "Context"}, {"type", "object"}}}}},
        {"required", keys_of({"loc", "msg", "type"})}};
}

json::object http_validation_error() {
    json::object properties{
        {"detail",
         {{"title", "Detail"},
          {"type", "array"},
          {"items", reference("#/components/schemas/ValidationError")}}}};
    for (auto& [key, value] : error_properties()) properties[key] = value;
    return {
        {"title", "HTTPValidationError"},
        {"type", "object"},
        {"properties", std::move(properties)},
        {"required", keys_of({"detail", "object", "status", "code", "message", "request_id"})}};
}

json::object header_parameter(
    std::string_view name, std::string_view description, json::object schema
) {
    return {
        {"name", name},
        {"in", "header"},
        {"required", false},
        {"description", description},
        {"schema", std::move(schema)}};
}

/// What is refused before or for want of a caller tells nothing of its budgets.
bool knows_caller(int status) { return status != 400 && status != 401 && status != 503; }

json::object header(std::string_view description, json::object schema) {
    return {{"description", description}, {"schema", std::move(schema)}};
}

json::object headers() {
    const json::object text{{"type", "string"}}, uuid{{"type", "string"}, {"format", "uuid"}};
    const json::object count{{"type", "integer"}, {"minimum", 0}};
    return {
        {"ETag", header("The record's version, for `If-Match`.", text)},
        {"RetryAfter", header("Seconds to wait.", {{"type", "integer"}, {"minimum", 1}})},
        {"RequestId", header("Names this request in the logs.", uuid)},
        {"IdempotencyReplayed",
         header(
             "The answer is the one that an earlier request with this `Idempotency-Key` got.",
             {{"type", "string"}, {"const", "true"}}
         )},
        {"RateLimitLimit",
         header(
             "What the budget allows that the caller is closest to using up. This and the other "
             "two are there when the caller is an agent with a budget.",
             count
         )},
        {"RateLimitRemaining", header("What is left of it.", count)},
        {"RateLimitReset", header("When it is full again, in Unix seconds.", count)}};
}

json::object parameters() {
    const json::object uuid{{"type", "string"}, {"format", "uuid"}};
    const json::object key{{"type", "string"}, {"minLength", 1}, {"maxLength", 255}};
    // Not `required`, for `Compat-Version` does as well; the default has clients send it.
    const json::object version{
        {"type", "string"}, {"default", api_version}, {"examples", json::array{api_version}}};
    return {
        {"BoardVersion",
         header_parameter(
             version_header,
             "The version of this interface that the client was written for. A request with "
             "neither this nor `Compat-Version` is refused with 400.",
             version
         )},
        {"Workspace",
         header_parameter(
             "X-Svc-Org",
             "The workspace of this request; left out, it is the session's or the token's.",
             uuid
         )},
        {"IdempotencyKey",
         header_parameter(
             "Idempotency-Key",
             "Makes a repeat safe: the same key and body within 24 hours give the first answer "
             "again, with `Idempotency-Replayed: true`.",
             key
         )},
        {"Mutation",
         header_parameter(
             "X-Svc-Mutation",
             "An id that the client makes up; the events of this write carry it as `mutation_id`, "
             "so that the client knows its own echo.",
             uuid
         )},
        {"IfMatch",
         header_parameter(
             "If-Match",
             "Change it only while it is at this version, as its `ETag` or `version` says.",
             json::object{{"type", "string"}, {"examples", json::array{"\"7\""}}}
         )},
        {"Lease",
         header_parameter(
             "X-Svc-Lease",
             "The `lease_token` of the lease by which you work on the card; once it is over the "
             "write is refused with 409 `lease_lost`.",
             json::object{{"type", "string"}}
         )},
    };
}

json::object security_schemes() {
    return {
        {"bearerAuth",
         {{"type", "http"},
          {"scheme", "bearer"},
          {"description", "A workspace token; it starts with `svc_`."}}},
        {"sessionCookie",
         {{"type", "apiKey"},
          {"in", "cookie"},
          {"name", "svc_session"},
          {"description",
           "A browser's session. Methods other than GET also need the header `X-CSRF-Token` with "
           "the token that GET /v1/auth/csrf gives."}}}};
}

}  // namespace

json::object refusal(int status) {
    const auto& row = *std::ranges::find(refusals, status, &Refusal::status);
    // Spelt out, as clients and tools of FastAPI's documents look for it here.
    if (status == 422)
        return {
            {"description", row.description},
            {"headers", answer_headers(true)},
            {"content", json_content("HTTPValidationError")}};
    return reference("#/components/responses/" + std::string(row.name));
}

json::object answer_headers(bool to_caller) {
    json::object out{{"X-Request-Id", reference("#/components/headers/RequestId")}};
    if (!to_caller) return out;
    for (const std::string name : {"Limit", "Remaining", "Reset"})
        out["X-RateLimit-" + name] = reference("#/components/headers/RateLimit" + name);
    return out;
}

void add_error_schemas(json::object& schemas) {
    schemas["HTTPValidationError"] = http_validation_error();
    schemas["ValidationError"] = validation_error();
    schemas["ErrorResponse"] = json::object{
        {"type", "object"},
        {"properties", error_properties()},
        {"required", keys_of({"object", "status", "code", "message", "request_id"})}};
}

void add_shared_parts(json::object& components) {
    json::object responses;
    for (const Refusal& row : refusals) {
        if (row.status == 422) continue;
        json::object response{
            {"description", row.description},
            {"headers", answer_headers(knows_caller(row.status))}};
        if (row.status == 429 || row.status == 503)
            response["headers"].as_object()["Retry-After"] =
                reference("#/components/headers/RetryAfter");
        response["content"] = json_content("ErrorResponse");
        responses[row.name] = std::move(response);
    }
    components["responses"] = std::move(responses);
    components["parameters"] = parameters();
    components["headers"] = headers();
    components["securitySchemes"] = security_schemes();
}

}  // namespace svc::decl
