#include "decl/schema.hpp"

#include "reading.hpp"
#include "sample_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

/// What people try first: it has to be taken as it is.
namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The example of the operation's body; null when it takes none.
const json::value* example_of(const Operation& operation) {
    static const json::value document =
        decl::parse_json(decl::openapi(sample_api()), "body", {64, 200'000});
    std::string method(operation.method());
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    const json::object& item = document.at("paths").at(operation.path()).at(method).as_object();
    const auto* body = item.if_contains("requestBody");
    return body ? &body->at("content").at("application/json").at("example") : nullptr;
}

std::string example_of(std::string_view name) {
    return text_of(example_of(sample_operation(name)));
}

}  // namespace

TEST(OpenApiExamples, EveryBodyHasOneThatIsTaken) {
    int seen = 0;
    for (const Operation& operation : sample_operations) {
        const auto* example = example_of(operation);
        if (!example) continue;
        ++seen;
        json::object arguments = example->as_object();
        decl::each_declared(*operation.handler.input, [&](const Record&, const Field& field) {
            if (operation.place(field) == Operation::Place::path)
                arguments[field.name] = new_uuid().str();
        });
        EXPECT_THAT(places_of([&] { decl::fill_flat(operation, arguments, nullptr); }), IsEmpty())
            << operation.name << text_of(example);
    }
    EXPECT_EQ(seen, 5);
}

TEST(OpenApiExamples, SayWhatIsRequiredOrElseOneThing) {
    EXPECT_EQ(
        example_of("sign_up"), R"({"email":"ada@example.com","password":"correct horse battery"})"
    );
    EXPECT_EQ(example_of("create_board"), R"({"name":"Parcels","key":"PAR"})");
    EXPECT_EQ(example_of("update_board"), R"({"name":"Parcels"})");
    EXPECT_EQ(example_of("batch_boards"), R"({"items":[{"op":"The op"}]})");
    EXPECT_EQ(example_of("move_board"), "{}") << "an id says nothing";
}

TEST(OpenApiExamples, OfRefusalsAreThoseOfTheOperation) {
    decl::OpenApiInput in = sample_api();
    in.refusals = R"({
        "refusals": {
            "key_taken": {"status": 409, "code": "conflict_error"},
            "lease_lost": {"status": 409, "code": "lease_lost"},
            "seats": {"status": 402, "code": "plan_limit_reached"}
        },
        "operations": {"create_board": ["key_taken", "seats"], "gone": ["lease_lost"]}
    })";
    const auto document = decl::parse_json(decl::openapi(in), "body", {64, 200'000});
    const auto& boards = document.at("paths").at("/v1/boards");
    const auto& conflict = boards.at("post").at("responses").at("409");
    EXPECT_THAT(
        text_of(&conflict.at("description")),
        HasSubstr("Here: [`key_taken`](/docs/errors#key_taken).")
    );
    const auto& content = conflict.at("content").at("application/json");
    EXPECT_EQ(
        text_of(&content.at("examples")),
        R"({"key_taken":{"$ref":"#/components/examples/key_taken"}})"
    );
    EXPECT_EQ(
        text_of(&document.at("components").at("examples")),
        R"({"key_taken":{"value":{"status":409,"code":"conflict_error"}},)"
        R"("seats":{"value":{"status":402,"code":"plan_limit_reached"}}})"
    );
    // What others have in common goes on being said once.
    EXPECT_EQ(
        text_of(&boards.at("post").at("responses").at("404")),
        R"({"$ref":"#/components/responses/NotFound"})"
    );
}

}  // namespace svc::test
