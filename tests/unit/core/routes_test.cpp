#include "core/routes.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace svc::core {
namespace {

void serve(Call&, const Nothing&) {}

class RoutesTest : public testing::Test {
protected:
    void declare(std::string_view name, std::string_view route) {
        operations_.push_back({.name = name, .route = route, .summary = "", .handler = serve});
        declared_.push_back({&operations_.back(), "test", "test"});
    }
    /// The operation's name and its parameters, or the methods that are there, or "nothing".
    std::string find(std::string_view method, std::string_view path) {
        if (!routes_) routes_.emplace(declared_);
        const Match match = routes_->find(method, path);
        std::string out;
        if (match.endpoint) {
            out = match.endpoint->operation().name;
            for (std::size_t i = 0; i < match.values.size(); ++i)
                out += " " + std::string(match.endpoint->parameters[i]) + "=" +
                       std::string(match.values[i]);
            return out;
        }
        for (auto each : match.allow) (out += "allow ") += each;
        return out.empty() ? "nothing" : out;
    }

    std::deque<Operation> operations_;
    std::vector<Declared> declared_;
    std::optional<Routes> routes_;
};

TEST_F(RoutesTest, TakesTheMethodAndTheParameters) {
    declare("get_card", "GET /v1/cards/{card_id}");
    declare("update_card", "PATCH /v1/cards/{card_id}");
    declare("claim", "POST /v1/boards/{board_id}/columns/{column_id}:claim-next");
    EXPECT_EQ(find("GET", "/v1/cards/ENG-42"), "get_card card_id=ENG-42");
    EXPECT_EQ(find("HEAD", "/v1/cards/1"), "get_card card_id=1");
    EXPECT_EQ(find("PATCH", "/v1/cards/1"), "update_card card_id=1");
    EXPECT_EQ(find("POST", "/v1/boards/b/columns/c:claim-next"), "claim board_id=b column_id=c");
}

TEST_F(RoutesTest, AnEscapedColonIsAColon) {
    declare("archive", "POST /v1/cards/{card_id}:archive");
    declare("batch", "POST /v1/cards:batch");
    EXPECT_EQ(find("POST", "/v1/cards/1%3Aarchive"), "archive card_id=1");
    EXPECT_EQ(find("POST", "/v1/cards/1%3aarchive"), "archive card_id=1");
    EXPECT_EQ(find("POST", "/v1/cards:batch"), "batch");
    EXPECT_EQ(find("POST", "/v1/cards%3Abatch"), "batch");
}

TEST_F(RoutesTest, ALiteralGoesBeforeAParameterButOnlyForItsOwnMethods) {
    declare("leave", "DELETE /v1/orgs/{org_id}/members/me");
    declare("remove", "DELETE /v1/orgs/{org_id}/members/{user_id}");
    declare("update", "PATCH /v1/orgs/{org_id}/members/{user_id}");
    EXPECT_EQ(find("DELETE", "/v1/orgs/o/members/me"), "leave org_id=o");
    EXPECT_EQ(find("DELETE", "/v1/orgs/o/members/u"), "remove org_id=o user_id=u");
    EXPECT_EQ(find("PATCH", "/v1/orgs/o/members/me"), "update org_id=o user_id=me");
}

TEST_F(RoutesTest, NamesTheMethodsOfAPathThatIsThere) {
    declare("get", "GET /v1/cards/{card_id}");
    declare("archive", "POST /v1/cards/{card_id}:archive");
    EXPECT_EQ(find("DELETE", "/v1/cards/1"), "allow GET");
    EXPECT_EQ(find("GET", "/v1/cards/1:archive"), "allow POST");
}

TEST_F(RoutesTest, LeadsNowhereForPathsThatAreAlmostRight) {
    declare("get", "GET /v1/cards/{card_id}");
    declare("archive", "POST /v1/cards/{card_id}:archive");
    for (auto path :
         {"/",
          "",
          "/v1",
          "/v1/cards",
          "/v1/cards/",
          "/v1/cards//",
          "/v1/cards/1/",
          "/v1//cards/1",
          "/v1/cards/1:burn",
          "/v1/cards/:archive",
          "/v1/cards/1:archive/x",
          "/V1/cards/1",
          "v1/cards/1"})
        EXPECT_EQ(find("POST", path), "nothing") << path;
}

TEST_F(RoutesTest, RefusesTheSameRouteTwice) {
    declare("one", "GET /v1/cards/{card_id}");
    declare("two", "GET /v1/cards/{id}");
    EXPECT_THROW(Routes{declared_}, std::logic_error);
}

}  // namespace
}  // namespace svc::core
