#include "core/secret_paths.hpp"

#include <gtest/gtest.h>

namespace svc::core {
namespace {

struct ByToken {
    std::string token;
};
SVC_RECORD(ByToken, (token, "The secret.", secret));
struct ById {
    Uuid board_id;
};
SVC_RECORD(ById, (board_id, "No secret."));
struct Nested {
    Uuid board_id;
    std::string token;
};
SVC_RECORD(Nested, (board_id, "No secret."), (token, "The secret.", secret));

void see(Call&, const ByToken&) {}
void read(Call&, const ById&) {}
void both(Call&, const Nested&) {}

const Operation shared{
    .name = "see", .route = "GET /v1/shared/{token}", .summary = "", .handler = see};
const Operation unlock{
    .name = "unlock", .route = "POST /v1/shared/{token}:unlock", .summary = "", .handler = see};
const Operation board{
    .name = "read", .route = "GET /v1/boards/{board_id}", .summary = "", .handler = read};
const Operation behind{
    .name = "both", .route = "GET /v1/boards/{board_id}/{token}", .summary = "", .handler = both};

}  // namespace

TEST(SecretPaths, WhatIsDeclaredSecretIsNotShown) {
    const SecretPaths paths({{&shared, "", ""}, {&unlock, "", ""}, {&board, "", ""}});
    EXPECT_EQ(paths.shown("/v1/shared/sl_abc"), "/v1/shared/***");
    EXPECT_EQ(paths.shown("/v1/shared/sl_abc:unlock"), "/v1/shared/***:unlock");
    EXPECT_EQ(paths.shown("/v1/shared/sl_abc/cards"), "/v1/shared/***/cards")
        << "nor where nothing is";
    EXPECT_EQ(paths.shown("/shared/sl_abc"), "/shared/***") << "the page of it";
    EXPECT_EQ(paths.shown("/v1/%73hared/sl_abc"), "/v1/shared/***");
    EXPECT_EQ(paths.shown("/shared/sl%5fabc"), "/shared/***");
}

TEST(SecretPaths, ATokenIsNotShownWhereItsPathIsNotQuiteRight) {
    const SecretPaths paths({{&shared, "", ""}});
    const std::string token = "sl_" + std::string(43, 'a');
    for (const char* stem : {"//v1/shared/", "/v1/Shared/", "/v1//shared/"})
        EXPECT_EQ(paths.shown(stem + token + ":unlock"), std::string(stem) + "***:unlock");
    const std::string id = "/v1/boards/01a21f3d-39b2-7812-a04f-fa1ed5512e0f/cards";
    EXPECT_EQ(paths.shown(id), id);
}

TEST(SecretPaths, EverythingElseIsShownAsItCame) {
    const SecretPaths paths({{&shared, "", ""}, {&board, "", ""}});
    for (const char* path : {"/v1/boards/7", "/v1/shared", "/sharedness/x", "/%zz", "/a%20b", "*"})
        EXPECT_EQ(paths.shown(path), path);
    EXPECT_EQ(SecretPaths({}).shown("/v1/shared/x"), "/v1/shared/x");
}

TEST(SecretPaths, ASecretBehindAnotherParameterIsAMistakeOfItsModule) {
    EXPECT_THROW(SecretPaths({{&behind, "", ""}}), std::logic_error);
}

}  // namespace svc::core
