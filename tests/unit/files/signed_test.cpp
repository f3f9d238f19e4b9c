#include "core/secret.hpp"
#include "svc/types.hpp"
#include "tests/unit/files/files_fixture.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

/// What the server has signed is good until its time. The tests sign as it does, with its secret,
/// for times that are over.
namespace svc::test {
namespace {

class Signed : public testing::Test {
protected:
    static constexpr const char* known = "a secret of at least thirty-two characters";

    std::string sign(const std::string& purpose, const std::string& text) const {
        std::string out;
        for (const char each : secret.sign(purpose, text)) {
            out += "0123456789abcdef"[static_cast<unsigned char>(each) >> 4];
            out += "0123456789abcdef"[static_cast<unsigned char>(each) & 15];
        }
        return out;
    }
    static Timestamp in(std::int64_t seconds) {
        return {Timestamp::now().micros + seconds * 1'000'000};
    }
    Reply download(std::int64_t seconds_from_now) const {
        const auto expires = std::to_string(in(seconds_from_now).micros / 1'000'000);
        const auto signature = sign("storage.download", "a/b\n" + expires + "\nx/y\nz");
        return server.client().get(
            "/storage/a/b?expires=" + expires + "&type=x/y&disposition=z&signature=" + signature
        );
    }
    Reply upload(const std::string& key, std::int64_t seconds_from_now) const {
        const std::string policy = R"({"expiration":")" + in(seconds_from_now).str() +
                                   R"(","conditions":[{"key":")" + key +
                                   R"("},["content-length-range",1,10]]})";
        std::string text(policy.size() * 2, '\0');
        text.resize(static_cast<std::size_t>(EVP_EncodeBlock(
            reinterpret_cast<unsigned char*>(text.data()),
            reinterpret_cast<const unsigned char*>(policy.data()),
            static_cast<int>(policy.size())
        )));
        Form form;
        form["key"] = key;
        form["policy"] = text;
        form["signature"] = sign("storage.upload", text);
        form.file = "bytes";
        return server.client().post("/storage/upload", form.body(), Form::headers());
    }

    Server server{{
        .database_url = Postgres::shared().fresh_database(),
        .settings = {fmt::format("server.secret={}", known)},
    }};
    core::Secret secret{known};
};

TEST_F(Signed, AFormIsTakenUntilItsTime) {
    EXPECT_EQ(upload("a/b", -1).status, 403);
    EXPECT_EQ(download(60).status, 404);  // nothing was kept
    EXPECT_EQ(upload("a/b", 60).status, 204);
    EXPECT_EQ(download(60).body, "bytes");
}

TEST_F(Signed, ALinkWorksUntilItsTime) {
    expect(204, upload("a/b", 60));
    EXPECT_EQ(download(60).status, 200);
    EXPECT_EQ(download(60).header("access-control-allow-origin"), "*");
    EXPECT_EQ(download(-1).status, 403);
}

TEST_F(Signed, NoKeyLeadsOutOfTheStore) {
    for (const char* key :
         {"../a", "a/../../b", "/etc/passwd", ".unfinished/a", "a//b", "A", "a%2fb"})
        EXPECT_EQ(upload(key, 60).status, 403) << key;
    EXPECT_FALSE(std::filesystem::exists(server.var() / "a"));
}

}  // namespace
}  // namespace svc::test
