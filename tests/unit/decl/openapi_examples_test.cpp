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

}  // namespace svc::test
