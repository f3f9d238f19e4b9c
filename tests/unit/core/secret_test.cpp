#include "core/secret.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace svc::core {
namespace {

TEST(Secret, SignaturesDependOnKeyPurposeAndMessage) {
    const Secret one("a key of at least thirty-two bytes!"),
        two("another key of thirty-two bytes!!");
    const auto signature = one.sign("cursor", "text");
    EXPECT_EQ(signature.size(), 32u);
    EXPECT_EQ(signature, one.sign("cursor", "text"));
    EXPECT_NE(signature, one.sign("session", "text"));
    EXPECT_NE(signature, one.sign("cursor", "texts"));
    EXPECT_NE(signature, two.sign("cursor", "text"));
}

TEST(Secret, WhatIsSealedOpensOnlyInItsPlaceAndUnaltered) {
    const Secret secret("a key of at least thirty-two bytes!");
    auto sealed = secret.seal("answers", "key-1", "svc_token");
    EXPECT_EQ(sealed.find("svc_token"), std::string::npos);
    EXPECT_EQ(secret.unseal("answers", "key-1", sealed), "svc_token");
    EXPECT_EQ(secret.unseal("answers", "key-2", sealed), "");
    EXPECT_EQ(secret.unseal("other", "key-1", sealed), "");
    sealed.back() ^= 1;
    EXPECT_EQ(secret.unseal("answers", "key-1", sealed), "");
    EXPECT_EQ(secret.unseal("answers", "key-1", "short"), "");
}

TEST(Secret, KeepsTheKeyItMadeAndShowsItToNobody) {
    const auto file =
        std::filesystem::path(testing::TempDir()) / ("server.key-" + std::to_string(::getpid()));
    std::filesystem::remove(file);
    const auto signature = Secret("", file).sign("a", "b");
    EXPECT_EQ(Secret("", file).sign("a", "b"), signature);
    const auto others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
    EXPECT_EQ(std::filesystem::status(file).permissions() & others, std::filesystem::perms::none);
    std::ofstream(file) << "cut";
    EXPECT_THROW(Secret("", file), std::runtime_error);
    std::filesystem::remove(file);
}

TEST(Secret, RefusesAConfiguredSecretThatIsShort) {
    EXPECT_THROW(Secret("short", "unused"), std::runtime_error);
}

}  // namespace
}  // namespace svc::core
