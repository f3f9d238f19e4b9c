#include "svc/json.hpp"
#include "tests/support/bare_call.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace svc::test {
namespace {

class RestCall final : public BareCall {
public:
    const http::Request* request() const override { return &request_; }

private:
    http::Request request_;
};

std::string loc_of(const Failure& failure) {
    EXPECT_EQ(failure.status(), 422);
    const auto body = boost::json::parse(failure.body("id"));
    EXPECT_EQ(body.at_pointer("/detail/0/type"), "value_error");
    return boost::json::serialize(body.at_pointer("/detail/0/loc"));
}

TEST(WrongFields, AreNamedAsTheCallerSentThem) {
    const RestCall rest;
    const BareCall tool;
    EXPECT_EQ(loc_of(wrong_field(rest, "name", "it is taken")), R"(["body","name"])");
    EXPECT_EQ(
        loc_of(wrong_field(rest, "sort", "it is unknown", FieldPlace::query)), R"(["query","sort"])"
    );
    EXPECT_EQ(loc_of(wrong_field(tool, "name", "it is taken")), R"(["arguments","name"])");
    EXPECT_EQ(
        loc_of(wrong_field(tool, "sort", "it is unknown", FieldPlace::query)),
        R"(["arguments","sort"])"
    );
}

TEST(WrongFields, MayBeDeepWithin) {
    const RestCall rest;
    const std::string path = R"("labels",2,"name")";
    const auto failure = wrong_at(rest, path, "it is given twice");
    EXPECT_EQ(loc_of(failure), R"(["body","labels",2,"name"])");
    const auto body = boost::json::parse(failure.body("id"));
    EXPECT_EQ(body.at_pointer("/detail/0/msg"), "It is given twice");
}

}  // namespace
}  // namespace svc::test
