#include "reading.hpp"
#include "sample_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string schema_of(std::string_view operation) {
    return decl::tool_schema(sample_operation(operation));
}

TEST(ToolSchema, RootIsAClosedObjectWithoutCombinators) {
    for (const Operation& operation : sample_operations) {
        const json::value parsed = decl::parse_json(decl::tool_schema(operation));
        const json::object& root = parsed.get_object();
        EXPECT_EQ(root.at("type"), "object") << operation.name;
        EXPECT_EQ(root.at("additionalProperties"), false) << operation.name;
        EXPECT_TRUE(root.at("properties").is_object()) << operation.name;
        for (const char* key : {"$ref", "anyOf", "oneOf", "allOf", "not", "if"})
            EXPECT_FALSE(root.contains(key)) << operation.name << ' ' << key;
    }
}

TEST(ToolSchema, EveryParameterIsDescribed) {
    for (const Operation& operation : sample_operations) {
        const json::value parsed = decl::parse_json(decl::tool_schema(operation));
        for (const auto& [name, schema] : parsed.get_object().at("properties").get_object())
            EXPECT_TRUE(schema.get_object().contains("description")) << operation.name << name;
    }
}

TEST(ToolSchema, HoldsPathQueryHeaderAndBodySideBySide) {
    const auto schema = schema_of("move_board");
    for (const char* name : {"board_id", "after_id", "org_id", "lease"})
        EXPECT_THAT(schema, HasSubstr("\"" + std::string(name) + "\":{"));
    EXPECT_THAT(schema, HasSubstr(R"("required":["board_id"])"));
}

TEST(ToolSchema, ShowsNullOnlyWhereItSaysSomething) {
    EXPECT_THAT(schema_of("create_board"), Not(HasSubstr("null")));
    const auto update = schema_of("update_board");
    EXPECT_THAT(update, HasSubstr(R"("limit":{"type":["integer","null"],"minimum":1)"));
    EXPECT_THAT(
        update, HasSubstr(R"("mood":{"type":["string","null"],"enum":["calm","eager","new",null])")
    );
    EXPECT_THAT(update, HasSubstr(R"("icon":{"type":["object","null"],)"));
}

TEST(ToolSchema, OffersTheVersionThatIsExpectedWhereARecordIsChanged) {
    EXPECT_THAT(
        schema_of("update_board"), HasSubstr(R"("expected_version":{"type":"integer","minimum":1,)")
    );
    for (const char* other : {"create_board", "move_board", "batch_boards"})
        EXPECT_THAT(schema_of(other), Not(HasSubstr("expected_version"))) << other;
}

TEST(ToolSchema, TakesTheVersionThatIsExpectedOutOfTheArguments) {
    const Operation& update = sample_operation("update_board");
    const auto taken = [&](std::string_view text, const Operation& operation) {
        json::value arguments = decl::parse_json(text, "arguments");
        const auto version = decl::take_expected_version(operation, arguments);
        EXPECT_EQ(arguments, decl::parse_json(R"({"name":"a"})")) << text;
        return version;
    };
    EXPECT_EQ(taken(R"({"name":"a","expected_version":7})", update), 7);
    EXPECT_EQ(taken(R"({"name":"a","expected_version":null})", update), std::nullopt);
    EXPECT_EQ(taken(R"({"name":"a"})", update), std::nullopt);
    for (const char* wrong : {"0", "-1", "1.5", "\"7\"", "[7]", "{}", "true", "1e300"}) {
        json::value arguments =
            decl::parse_json(R"({"expected_version":)" + std::string(wrong) + "}", "arguments");
        try {
            decl::take_expected_version(update, arguments);
            ADD_FAILURE() << wrong;
        } catch (const Failure& failure) {
            EXPECT_THAT(failure.body(""), HasSubstr(R"(["arguments","expected_version"])"));
        }
    }
    json::value elsewhere = decl::parse_json(R"({"expected_version":7})", "arguments");
    EXPECT_EQ(
        decl::take_expected_version(sample_operation("create_board"), elsewhere), std::nullopt
    );
    EXPECT_EQ(elsewhere.as_object().size(), 1U) << "to be refused as unknown";
}

TEST(ToolSchema, DoesNotShowWhatInputIgnores) {
    EXPECT_THAT(schema_of("create_board"), Not(HasSubstr("\"id\":")));
}

TEST(ToolSchema, DefinesOnceWhatIsUsedTwice) {
    const auto schema = schema_of("batch_boards");
    EXPECT_THAT(schema, HasSubstr(R"("$defs":{"Icon":{)"));
    EXPECT_THAT(schema, HasSubstr(R"("$ref":"#/$defs/Icon")"));
    EXPECT_THAT(schema, Not(HasSubstr("#/$defs/BatchItem")));
    EXPECT_THAT(schema_of("create_board"), Not(HasSubstr("$defs")));
}

TEST(ToolSchema, IsShort) {
    EXPECT_EQ(
        schema_of("get_board"),
        R"({"type":"object","properties":{"board_id":{"type":"string","format":"uuid",)"
        R"("description":"The board's id."}},"required":["board_id"],"additionalProperties":false})"
    );
    EXPECT_EQ(
        schema_of("log_out"), R"({"type":"object","properties":{},"additionalProperties":false})"
    );
}

// ------------------------------------------------------------------ recursion

struct Node {
    std::string name;
    std::vector<Node> children;
};
inline const Record& svc_describe(const Node*) {
    static const Field fields[] = {
        detail::field<&Node::name>("name", "Its name."),
        detail::field<&Node::children>("children", "Those below it.", defaulted),
    };
    static const Record record{"Node", fields, &detail::blank<Node>};
    return record;
}
struct Tree {
    Node root;
};
SVC_RECORD(Tree, (root, "The topmost."));
void plant(Call&, const Tree&) {}
const Operation plant_tree{
    .name = "plant_tree", .route = "POST /v1/trees", .summary = "Plant.", .handler = plant};

TEST(ToolSchema, ARecordWithinItselfIsDefined) {
    EXPECT_THAT(decl::tool_schema(plant_tree), HasSubstr(R"("$defs":{"Node":{)"));
}

}  // namespace
}  // namespace svc::test
