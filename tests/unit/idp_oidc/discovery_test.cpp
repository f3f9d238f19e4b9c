#include "plugins/idp-oidc/lib/discovery.hpp"

#include <gtest/gtest.h>

namespace svc::test {
namespace {

using namespace idp_oidc;

std::string document(const std::string& issuer, const std::string& endpoints) {
    return R"({"issuer":")" + issuer + R"(","authorization_endpoint":")" + issuer +
           R"(/authorize","token_endpoint":")" + endpoints + R"(/token","jwks_uri":")" + issuer +
           R"(/jwks"})";
}

constexpr const char* remote = "https://accounts.example.com";
constexpr const char* here = "http://127.0.0.1:8080";

TEST(Discovery, NamesTheEndpoints) {
    const auto found = parse_discovery(document(remote, remote), remote);
    EXPECT_EQ(found.authorization_endpoint, "https://accounts.example.com/authorize");
    EXPECT_EQ(found.token_endpoint, "https://accounts.example.com/token");
    EXPECT_EQ(found.jwks_uri, "https://accounts.example.com/jwks");
    EXPECT_FALSE(found.userinfo_endpoint);
}

TEST(Discovery, OfARemoteIssuerDoesNotSendUsToWhatListensHere) {
    for (const char* endpoints :
         {"http://127.0.0.1:5432", "http://localhost:80", "http://[::1]:80"})
        EXPECT_THROW(parse_discovery(document(remote, endpoints), remote), BadDiscovery)
            << endpoints;
}

TEST(Discovery, OfAnIssuerHereMayNameItsOwnMachine) {
    const auto found = parse_discovery(document(here, here), here);
    EXPECT_EQ(found.token_endpoint, "http://127.0.0.1:8080/token");
    EXPECT_THROW(
        parse_discovery(document(here, "http://accounts.example.com"), here), BadDiscovery
    );
}

TEST(Discovery, OfAnotherIssuerIsNotBelieved) {
    EXPECT_THROW(parse_discovery(document(here, here), remote), BadDiscovery);
    EXPECT_THROW(parse_discovery("[]", remote), BadDiscovery);
    EXPECT_THROW(parse_discovery("{}", remote), BadDiscovery);
}

}  // namespace
}  // namespace svc::test
