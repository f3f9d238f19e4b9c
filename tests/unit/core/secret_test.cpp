#include "core/secret.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

class KeyFile : public testing::Test {
protected:
    KeyFile() { std::filesystem::create_directories(folder); }
    ~KeyFile() override { std::filesystem::remove_all(folder); }
    std::ptrdiff_t files() const {
        return std::distance(std::filesystem::directory_iterator(folder), {});
    }

    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / ("key-" + std::to_string(::getpid()));
    const std::filesystem::path file = folder / "server.key";
};

TEST_F(KeyFile, OfAFullDiskIsNotLeftBehindEmpty) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit nothing{0, 0};
        ::setrlimit(RLIMIT_FSIZE, &nothing);
        try {
            Secret("", file);
        } catch (const std::runtime_error&) {
            ::_exit(7);
        }
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    EXPECT_EQ(files(), 0);
    const auto signature = Secret("", file).sign("a", "b");
    EXPECT_EQ(Secret("", file).sign("a", "b"), signature);
    EXPECT_EQ(files(), 1);
}

TEST_F(KeyFile, KeepsItsOwnerWhenTheKeyIsReplaced) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    Secret("", file);
    ASSERT_EQ(::chown(file.c_str(), 12345, 12346), 0);
    Secret::keep(Secret::random_key(), file);
    struct stat about {};
    ASSERT_EQ(::stat(file.c_str(), &about), 0);
    EXPECT_EQ(about.st_uid, 12345u);
    EXPECT_EQ(about.st_gid, 12346u);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
    EXPECT_EQ(files(), 1);
}

TEST_F(KeyFile, IsAsItWasUntilTheNewKeyIsPutThere) {
    const auto signature = Secret("", file).sign("a", "b");
    const auto other = Secret::random_key();
    { const NewKey forgotten(other, file); }
    EXPECT_EQ(Secret("", file).sign("a", "b"), signature);
    EXPECT_FALSE(NewKey(other, file).put_unless_there());
    EXPECT_EQ(Secret("", file).sign("a", "b"), signature);
    NewKey(other, file).put();
    EXPECT_EQ(Secret("", file).key(), other);
    EXPECT_EQ(files(), 1);
}

TEST(Secret, RefusesAConfiguredSecretThatIsShort) {
    EXPECT_THROW(Secret("short", "unused"), std::runtime_error);
}

}  // namespace
}  // namespace svc::core
