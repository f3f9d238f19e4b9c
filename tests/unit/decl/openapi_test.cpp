#include "decl/schema.hpp"

#include "reading.hpp"
#include "sample_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

const json::object& document() {
    static const json::value parsed =
        decl::parse_json(decl::openapi(sample_api()), "body", {64, 200'000});
    return parsed.get_object();
}

// The value at a JSON Pointer; null when there is none.
const json::value* at(std::string_view pointer) {
    json::error_code error;
    static const json::value whole = document();
    return whole.find_pointer(pointer, error);
}

std::string text_at(std::string_view pointer) { return text_of(at(pointer)); }

std::string schema_at(std::string_view name) {
    return text_at("/components/schemas/" + std::string(name));
}

std::vector<std::string> keys_at(std::string_view pointer) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : at(pointer)->get_object()) keys.emplace_back(key);
    return keys;
}

constexpr std::string_view boards = "/paths/~1v1~1boards";
constexpr std::string_view board = "/paths/~1v1~1boards~1{board_id}";

std::string in(std::string_view path, std::string_view rest) {
    return std::string(path) + std::string(rest);
}

TEST(OpenApi, IsTheSameEveryTime) {
    EXPECT_EQ(decl::openapi(sample_api()), decl::openapi(sample_api()));
}

TEST(OpenApi, SaysWhatItIs) {
    EXPECT_EQ(text_at("/openapi"), "\"3.1.0\"");
    EXPECT_EQ(text_at("/info/version"), "\"0.0.0\"");
    EXPECT_EQ(text_at("/servers"), R"([{"url":"https://board.example.org"}])");
    EXPECT_EQ(
        text_at("/tags"),
        R"([{"name":"auth","description":"Signing in and out."},)"
        R"({"name":"boards","description":"Boards and what is on them."}])"
    );
}

TEST(OpenApi, EveryReferenceLeadsSomewhere) {
    std::set<std::string> seen;
    json::value all = document();
    decl::each_ref(all, [&](json::value& ref) {
        const std::string_view text = ref.get_string();
        ASSERT_TRUE(text.starts_with("#/"));
        EXPECT_NE(at(text.substr(1)), nullptr) << text;
        seen.emplace(text);
    });
    EXPECT_GT(seen.size(), 20u);
}

TEST(OpenApi, NothingSharedIsThereInVain) {
    const std::string all = decl::openapi(sample_api());
    for (const std::string kind : {"parameters", "responses", "headers", "schemas"})
        for (const std::string& name : keys_at("/components/" + kind))
            EXPECT_THAT(all, HasSubstr("\"#/components/" + kind + "/" + name + "\"")) << name;
    decl::OpenApiInput one{.base_url = "http://x", .tags = {}, .operations = {}};
    one.operations.push_back({&sample_operation("log_out"), "auth"});
    EXPECT_THAT(decl::openapi(one), Not(HasSubstr("\"Workspace\"")));
}

TEST(OpenApi, EveryFieldIsDescribed) {
    for (const auto& [name, schema] : at("/components/schemas")->get_object()) {
        if (name == "ValidationError" || name == "HTTPValidationError") continue;  // FastAPI's own
        for (const auto& [field, value] : schema.get_object().at("properties").get_object())
            EXPECT_TRUE(value.get_object().contains("description")) << name << '.' << field;
    }
}

TEST(OpenApi, NamesThatMeanTheSameEverywhereDescribeThemselves) {
    EXPECT_EQ(decl::describe_by_name("board_id"), "The board's id.");
    EXPECT_EQ(decl::describe_by_name("default_view"), "");
}

TEST(OpenApi, EveryOperationHasWhatTheLintersAskFor) {
    std::set<std::string> ids;
    for (const auto& [path, item] : document().at("paths").get_object()) {
        EXPECT_FALSE(std::string_view(path).ends_with('/')) << path;
        for (const auto& [method, value] : item.get_object()) {
            const json::object& operation = value.get_object();
            const std::string id(operation.at("operationId").get_string());
            EXPECT_TRUE(ids.insert(id).second) << id;
            EXPECT_FALSE(operation.at("summary").get_string().empty()) << id;
            EXPECT_FALSE(operation.at("description").get_string().empty()) << id;
            EXPECT_EQ(operation.at("tags").get_array().size(), 1u) << id;
            EXPECT_TRUE(operation.contains("security")) << id;
            for (const auto& [status, response] : operation.at("responses").get_object())
                EXPECT_TRUE(
                    response.get_object().contains("description") ||
                    response.get_object().contains("$ref")
                ) << id
                  << ' ' << status;
        }
    }
    EXPECT_EQ(ids.size(), std::size(sample_operations));
}

TEST(OpenApi, NothingIsNullableTheOldWay) {
    EXPECT_THAT(decl::openapi(sample_api()), Not(HasSubstr("\"nullable\"")));
    EXPECT_EQ(
        text_at("/components/schemas/BoardResponse/properties/icon/anyOf"),
        R"([{"$ref":"#/components/schemas/Icon"},{"type":"null"}])"
    );
}

TEST(OpenApi, ValidationErrorsAreFastApisPlusTheEnvelope) {
    EXPECT_EQ(
        schema_at("ValidationError"),
        R"({"title":"ValidationError","type":"object","properties":{)"
        R"("loc":{"title":"Location","type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}},)"
        R"("msg":{"title":"Message","type":"string"},"type":{"title":"Error Type","type":"string"},)"
        R"("input":{"title":"Input"},"ctx":{"title":"Context","type":"object"}},)"
        R"("required":["loc","msg","type"]})"
    );
    EXPECT_EQ(
        text_at("/components/schemas/HTTPValidationError/properties/detail"),
        R"({"title":"Detail","type":"array","items":{"$ref":"#/components/schemas/ValidationError"}})"
    );
    EXPECT_EQ(
        text_at("/components/schemas/HTTPValidationError/required"),
        R"(["detail","object","status","code","message","request_id"])"
    );
    EXPECT_EQ(
        text_at(in(boards, "/post/responses/422/content/application~1json/schema")),
        R"({"$ref":"#/components/schemas/HTTPValidationError"})"
    );
}

TEST(OpenApi, RefusalsFollowFromTheAccess) {
    EXPECT_THAT(
        keys_at(in(board, "/patch/responses")),
        ElementsAre(
            "200",
            "400",
            "401",
            "402",
            "403",
            "404",
            "409",
            "412",
            "413",
            "415",
            "422",
            "429",
            "503",
            "504"
        )
    );
    EXPECT_THAT(
        keys_at(in(board, "/get/responses")),
        ElementsAre("200", "400", "401", "403", "404", "413", "422", "429", "503", "504")
    );
    EXPECT_THAT(
        keys_at("/paths/~1v1~1auth~1signup/post/responses"),
        ElementsAre("201", "400", "401", "409", "413", "415", "422", "429", "503", "504")
    );
    EXPECT_THAT(keys_at("/paths/~1v1~1auth~1google~1callback/get/responses"), ElementsAre("302"));
}

TEST(OpenApi, AnswersNameTheirHeaders) {
    const auto everybodys = ElementsAre("X-Request-Id");
    const auto callers = ElementsAre(
        "X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"
    );
    EXPECT_THAT(keys_at("/components/responses/MissingVersion/headers"), everybodys);
    EXPECT_THAT(keys_at("/components/responses/Unauthorized/headers"), everybodys);
    EXPECT_THAT(keys_at("/components/responses/NotFound/headers"), callers);
    EXPECT_THAT(
        keys_at("/components/responses/RateLimited/headers"),
        ElementsAre(
            "X-Request-Id",
            "X-RateLimit-Limit",
            "X-RateLimit-Remaining",
            "X-RateLimit-Reset",
            "Retry-After"
        )
    );
    EXPECT_THAT(keys_at(in(boards, "/get/responses/200/headers")), callers);
    EXPECT_THAT(keys_at(in(boards, "/get/responses/422/headers")), callers);
    EXPECT_THAT(
        keys_at("/paths/~1v1~1auth~1signup/post/responses/201/headers"),
        ElementsAre("X-Request-Id", "ETag")
    );
    EXPECT_NE(at(in(boards, "/post/responses/201/headers/Idempotency-Replayed")), nullptr);
}

TEST(OpenApi, SecurityFollowsFromTheAccess) {
    EXPECT_EQ(text_at("/paths/~1v1~1auth~1signup/post/security"), "[]");
    EXPECT_EQ(text_at(in(board, "/get/security")), R"([{"bearerAuth":[]},{"sessionCookie":[]}])");
}

std::vector<std::string> parameters_of(std::string_view operation) {
    std::vector<std::string> names;
    for (const json::value& each : at(in(operation, "/parameters"))->get_array()) {
        const json::object& parameter = each.get_object();
        if (const auto* ref = parameter.if_contains("$ref")) {
            names.push_back(text_of(ref).substr(25));
            names.back().pop_back();
        } else {
            names.push_back(
                std::string(parameter.at("in").get_string()) + ' ' +
                std::string(parameter.at("name").get_string())
            );
        }
    }
    return names;
}

TEST(OpenApi, ParametersStandWhereTheyTravel) {
    EXPECT_THAT(
        parameters_of(in(boards, "/get")),
        ElementsAre(
            "query page_size",
            "query start_cursor",
            "query text",
            "query mood",
            "Workspace",
            "BoardVersion"
        )
    );
    EXPECT_THAT(
        parameters_of("/paths/~1v1~1boards~1{board_id}:move/post"),
        ElementsAre(
            "path board_id",
            "query org_id",
            "header x-svc-lease",
            "IdempotencyKey",
            "Mutation",
            "BoardVersion"
        )
    );
    EXPECT_THAT(
        parameters_of(in(board, "/patch")),
        ElementsAre("path board_id", "Mutation", "IfMatch", "BoardVersion")
    );
    EXPECT_THAT(
        parameters_of(in(board, "/delete")),
        ElementsAre("path board_id", "Mutation", "IfMatch", "BoardVersion")
    );
    EXPECT_THAT(parameters_of(in(board, "/get")), ElementsAre("path board_id", "BoardVersion"));
    EXPECT_EQ(
        text_at(in(boards, "/get/parameters/0")),
        R"({"name":"page_size","in":"query","required":false,)"
        R"("description":"How many to return at most. A page of long things ends sooner, at 1 MiB.",)"
        R"("schema":{"type":"integer","minimum":1,"maximum":100,"default":25}})"
    );
    EXPECT_EQ(
        text_at(in(boards, "/get/parameters/2/schema")),
        R"({"type":"string","minLength":1,"maxLength":100})"
    );
}

TEST(OpenApi, BodiesHoldWhatTravelsInThem) {
    EXPECT_THAT(
        keys_at("/components/schemas/UpdateBoardRequest/properties"),
        ElementsAre("name", "icon", "limit", "mood")
    );
    EXPECT_EQ(text_at("/components/schemas/UpdateBoardRequest/required"), "");
    EXPECT_EQ(text_at("/components/schemas/UpdateBoardRequest/additionalProperties"), "false");
    EXPECT_EQ(text_at("/components/schemas/CreateBoardRequest/required"), R"(["name","key"])");
    // Generators take a member with a default for one that has to be named.
    EXPECT_EQ(text_at("/components/schemas/CreateBoardRequest/properties/mood/default"), "");
    EXPECT_THAT(
        text_at("/components/schemas/CreateBoardRequest/properties/mood/description"),
        HasSubstr("Default: `\\\"eager\\\"`.")
    );
    EXPECT_EQ(
        text_at("/components/schemas/CreateBoardRequest/properties/key/pattern"),
        "\"^(?:[A-Z][A-Z0-9]{1,9})$\""
    );
    EXPECT_EQ(text_at("/components/schemas/CreateBoardRequest/properties/id/readOnly"), "true");
    EXPECT_EQ(text_at("/components/schemas/SignupRequest/properties/password/writeOnly"), "true");
    EXPECT_EQ(text_at(in(board, "/patch/requestBody/required")), "false");
    EXPECT_EQ(text_at(in(boards, "/post/requestBody/required")), "true");
    EXPECT_EQ(at(in(board, "/get/requestBody")), nullptr);
    EXPECT_EQ(at("/paths/~1v1~1auth~1logout/post/requestBody"), nullptr);
}

TEST(OpenApi, AnswersAlwaysHaveEveryFieldThatIsNotLeftOut) {
    const auto required = text_at("/components/schemas/BoardResponse/required");
    EXPECT_THAT(required, HasSubstr("\"icon\""));
    EXPECT_THAT(required, Not(HasSubstr("\"note\"")));
    EXPECT_EQ(at("/components/schemas/BoardResponse/additionalProperties"), nullptr);
    EXPECT_EQ(
        text_at("/components/schemas/BoardResponse/properties/note"),
        R"({"type":"string","description":"Only where there is one."})"
    );
}

TEST(OpenApi, ARecordThatDiffersAsInputHasTwoNames) {
    EXPECT_EQ(text_at("/components/schemas/Icon-Input/additionalProperties"), "false");
    EXPECT_EQ(at("/components/schemas/Icon/additionalProperties"), nullptr);
    EXPECT_EQ(
        text_at("/components/schemas/CreateBoardRequest/properties/icon/anyOf/0/$ref"),
        "\"#/components/schemas/Icon-Input\""
    );
}

TEST(OpenApi, PagesAndVariantsAndVersions) {
    EXPECT_THAT(
        keys_at("/components/schemas/PaginatedResponse_BoardResponse_/properties"),
        ElementsAre("object", "type", "board", "results", "next_cursor", "has_more", "request_id")
    );
    EXPECT_EQ(
        text_at(in(boards, "/get/responses/200/content/application~1json/schema/$ref")),
        "\"#/components/schemas/PaginatedResponse_BoardResponse_\""
    );
    EXPECT_EQ(
        text_at(in(boards, "/post/responses/200/content/application~1json/schema")),
        R"({"anyOf":[{"$ref":"#/components/schemas/BoardResponse"},)"
        R"({"$ref":"#/components/schemas/AlreadyThere"}]})"
    );
    EXPECT_NE(at(in(board, "/get/responses/200/headers/ETag")), nullptr);
    EXPECT_EQ(at("/paths/~1v1~1auth~1logout/post/responses/204/content"), nullptr);
}

TEST(OpenApi, APageIsWrittenAsItIsDescribed) {
    std::string page;
    detail::write_page_head(record_of<BoardResponse>(), page);
    page += "[]";
    detail::write_page_tail(record_of<BoardResponse>(), std::nullopt, "r", page);
    std::vector<std::string> keys;
    const json::value parsed = decl::parse_json(page);
    for (const auto& [key, value] : parsed.get_object()) keys.emplace_back(key);
    EXPECT_EQ(keys, keys_at("/components/schemas/PaginatedResponse_BoardResponse_/properties"));
}

// -------------------------------------------------------------------- clashes

struct First {
    std::string text;
};
SVC_RECORD(First, (text, "One thing."));

namespace other {
struct First {
    std::int64_t number = 0;
};
SVC_RECORD(First, (number, "Another thing."));
First serve(Call&, const First&) { return {}; }
}  // namespace other

First serve(Call&, const First&) { return {}; }

const Operation one{.name = "one", .route = "POST /v1/one", .summary = "1", .handler = serve};
const Operation two{
    .name = "two", .route = "POST /v1/two", .summary = "2", .handler = other::serve};

TEST(OpenApi, TwoAnswersUnderOneNameAreAMistake) {
    decl::OpenApiInput api{
        .base_url = "http://x", .tags = {}, .operations = {{&one, "t"}, {&two, "t"}}};
    EXPECT_THROW(decl::openapi(api), std::logic_error);
}

void take(Call&, const First&) {}
void take_other(Call&, const other::First&) {}
const Operation three{.name = "three", .route = "POST /v1/3", .summary = "3", .handler = take};
const Operation four{.name = "four", .route = "POST /v1/4", .summary = "4", .handler = take_other};

TEST(OpenApi, TwoBodiesUnderOneNameAreToldApart) {
    decl::OpenApiInput api{.base_url = "http://x", .operations = {{&three, "t"}, {&four, "t"}}};
    const json::value parsed = decl::parse_json(decl::openapi(api));
    const json::object& schemas =
        parsed.get_object().at("components").get_object().at("schemas").get_object();
    EXPECT_TRUE(schemas.contains("First"));
    EXPECT_TRUE(schemas.contains("Body_three") != schemas.contains("Body_four"));
}

}  // namespace
}  // namespace svc::test
