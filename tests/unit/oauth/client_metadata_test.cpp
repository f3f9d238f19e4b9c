#include "modules/oauth/lib/client_metadata.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace svc::oauth {
namespace {

namespace json = boost::json;

ClientMetadata read(std::string_view text) { return read_metadata(json::parse(text), {}); }
std::string error_of(std::string_view text) {
    try {
        read(text);
        return "none";
    } catch (const BadMetadata& problem) {
        return problem.error();
    }
}

TEST(ClientMetadata, NameAndAddressesAreRead) {
    const auto client = read(
        R"({"client_name": "Helper", "redirect_uris": ["https://a.example/b", "http://127.0.0.1/"],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_post", "logo_uri": 7})"
    );
    EXPECT_EQ(client.name, "Helper");
    EXPECT_EQ(client.redirect_uris.size(), 2);
    EXPECT_EQ(read(R"({"redirect_uris": ["https://a.example/b"]})").name, "a.example");
}

TEST(ClientMetadata, WhatCannotBeIsRefused) {
    EXPECT_EQ(error_of("[]"), "invalid_client_metadata");
    EXPECT_EQ(error_of("{}"), "invalid_redirect_uri");
    EXPECT_EQ(error_of(R"({"redirect_uris": []})"), "invalid_redirect_uri");
    EXPECT_EQ(error_of(R"({"redirect_uris": "https://a.example"})"), "invalid_client_metadata");
    EXPECT_EQ(error_of(R"({"redirect_uris": [1]})"), "invalid_redirect_uri");
    EXPECT_EQ(error_of(R"({"redirect_uris": ["javascript:1"]})"), "invalid_redirect_uri");
    EXPECT_EQ(
        error_of(R"({"redirect_uris": ["https://a.example"], "grant_types": ["implicit"]})"),
        "invalid_client_metadata"
    );
    EXPECT_EQ(
        error_of(R"({"redirect_uris": ["https://a.example"], "client_name": {}})"),
        "invalid_client_metadata"
    );
    json::array many(11, json::value("https://a.example/"));
    EXPECT_EQ(
        error_of(json::serialize(json::object{{"redirect_uris", many}})), "invalid_redirect_uri"
    );
}

TEST(ClientMetadata, NamesHideAndTurnNothing) {
    EXPECT_EQ(shown_name("  Hel\nper\x7f "), "Helper");
    EXPECT_EQ(shown_name("a\u202Eb\u200Bc\uFEFF"), "abc");
    EXPECT_EQ(shown_name("Hélène 工具 🙂"), "Hélène 工具 🙂");
    EXPECT_EQ(shown_name("\u200B\u200B"), "");
    EXPECT_EQ(shown_name(std::string(200, 'x')).size(), 80);
}

TEST(ClientMetadata, DocumentsAreAtHttpsAddresses) {
    for (const char* good :
         {"https://client.example/id.json", "https://client.example:8443/a/b?c=d"})
        EXPECT_TRUE(is_document_address(good)) << good;
    for (const char* bad :
         {"https://client.example",
          "https://client.example/",
          "http://client.example/id.json",
          "http://127.0.0.1/id.json",
          "https://user@client.example/id.json",
          "https://client.example/id.json#there",
          "https://client.example/a/../id.json",
          "https://client.example/a/..",
          "https://client.example/a b",
          "ftp://client.example/id.json"})
        EXPECT_FALSE(is_document_address(bad)) << bad;
}

TEST(ClientMetadata, ADocumentIsOfTheClientThatItSays) {
    const std::string id = "https://client.example/id.json";
    json::object document{
        {"client_id", id}, {"redirect_uris", {"https://client.example/b", "http://127.0.0.1/"}}
    };
    EXPECT_EQ(read_document(document, id, {}).redirect_uris.size(), 2);
    EXPECT_THROW(read_document(document, id + "?", {}), BadMetadata);
    document["token_endpoint_auth_method"] = "client_secret_basic";
    EXPECT_THROW(read_document(document, id, {}), BadMetadata);
    document["token_endpoint_auth_method"] = "none";
    EXPECT_NO_THROW(read_document(document, id, {}));
    document.erase("client_id");
    EXPECT_THROW(read_document(document, id, {}), BadMetadata);
}

}  // namespace
}  // namespace svc::oauth
