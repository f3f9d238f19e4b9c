#include "reading.hpp"

#include <gtest/gtest.h>

namespace svc::test {
namespace {

TEST(Failure, OfInputHoldsTheDetailBesideCodeAndMessage) {
    const auto failure = Failure::invalid_at(R"(["body","name"])", "value_error", "Say \"who\".");
    EXPECT_EQ(failure.status(), 422);
    const json::value body = decl::parse_json(failure.body("r-1"));
    const json::object& fields = body.get_object();
    EXPECT_EQ(fields.at("object"), "error");
    EXPECT_EQ(fields.at("status"), 422);
    EXPECT_EQ(fields.at("code"), "validation_error");
    EXPECT_EQ(fields.at("request_id"), "r-1");
    EXPECT_TRUE(fields.at("message").is_string());
    EXPECT_EQ(
        text_of(&fields.at("detail")),
        R"([{"loc":["body","name"],"msg":"Say \"who\".","type":"value_error"}])"
    );
}

TEST(Failure, OfAnotherKindHasNoDetail) {
    const json::value body = decl::parse_json(
        Failure(Fault::version_conflict, "Stale.").with("current_version", "7").body("r")
    );
    EXPECT_FALSE(body.get_object().contains("detail"));
    EXPECT_EQ(text_of(&body.get_object().at("additional_data")), R"({"current_version":"7"})");
}

}  // namespace
}  // namespace svc::test
