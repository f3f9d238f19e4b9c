#include "plugins/store-local/lib/form.hpp"
#include "plugins/store-local/lib/objects.hpp"
#include "plugins/store-local/lib/policy.hpp"
#include "plugins/store-local/lib/range.hpp"
#include "svc/failure.hpp"
#include "tests/support/program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace svc::store_local {
namespace {

// ------------------------------------------------------------------------------------ forms

/// What came of reading a form.
struct Read final : FormReader::Listener {
    std::map<std::string, std::string> fields;
    std::string file;
    int begun = 0, ended = 0;
    bool done = false;

    void field(std::string name, std::string value) override { fields[name] = std::move(value); }
    void file_begins() override { ++begun; }
    void file_bytes(std::string_view bytes) override { file += bytes; }
    void file_ends() override { ++ended; }
};

Read read(const std::string& form, std::size_t piece) {
    Read out;
    FormReader reader("XyZ", out);
    for (std::size_t at = 0; at < form.size(); at += piece)
        reader.take(std::string_view(form).substr(at, piece));
    out.done = reader.done();
    return out;
}

bool is_refused(const std::string& form) {
    try {
        read(form, form.size());
        return false;
    } catch (const Failure& failure) {
        return failure.status() == 422;
    }
}

std::string part(
    const std::string& name, const std::string& content, const std::string& more = ""
) {
    return "--XyZ\r\nContent-Disposition: form-data; name=\"" + name + "\"" + more + "\r\n\r\n" +
           content + "\r\n";
}

const std::string bytes = std::string("\r\n--Xy", 6) + '\0' + "\r\n--XyY\r\n-" + "\n--XyZ end\r";
const std::string whole =
    part("Key", "a/b") + part("policy", "") +
    part("file", bytes, "; filename=\"a; name=\\\"x\\\".txt\"\r\nContent-Type: x/y") +
    "--XyZ--\r\n";

TEST(Forms, AreReadWhereverTheyAreCut) {
    for (std::size_t piece = 1; piece <= whole.size(); ++piece) {
        const Read got = read(whole, piece);
        EXPECT_EQ(got.fields, (std::map<std::string, std::string>{{"key", "a/b"}, {"policy", ""}}));
        ASSERT_EQ(got.file, bytes) << piece;
        EXPECT_EQ(got.begun, 1);
        EXPECT_EQ(got.ended, 1);
        EXPECT_TRUE(got.done);
    }
}

TEST(Forms, EndWithTheFile) {
    const Read got = read(part("file", "x") + part("late", "y") + "--XyZ--\r\n", 1000);
    EXPECT_TRUE(got.done);
    EXPECT_TRUE(got.fields.empty());
    EXPECT_EQ(got.file, "x");
}

TEST(Forms, MayHaveAnEmptyFileOrNone) {
    EXPECT_EQ(read(part("file", "") + "--XyZ--", 7).ended, 1);
    const Read none = read(part("key", "k") + "--XyZ--", 7);
    EXPECT_TRUE(none.done);
    EXPECT_EQ(none.begun, 0);
}

TEST(Forms, ThatBreakOffAreNotDone) {
    const auto until_end = whole.substr(0, whole.find(bytes) + bytes.size());
    for (std::size_t size = 0; size <= until_end.size(); ++size) {
        const Read got = read(until_end.substr(0, size), 50);
        EXPECT_FALSE(got.done) << size;
        EXPECT_EQ(got.ended, 0) << size;
    }
}

TEST(Forms, ThatAreNoneAreRefused) {
    for (const auto& form :
         {std::string("hello"),
          std::string("--XyA\r\n"),
          std::string("--XyZ\n\n"),
          std::string("--XyZ\r\n\r\nno name\r\n"),
          std::string("--XyZ\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\n"),
          std::string("--XyZ\r\nContent-Disposition: form-data; filename=\"name=x\"\r\n\r\n"),
          "--XyZ\r\nX: " + std::string(FormReader::most_of_head, 'x') + "\r\n\r\n",
          part("key", std::string(FormReader::most_of_fields + 1, 'x')) + "--XyZ--"})
        EXPECT_TRUE(is_refused(form)) << form.substr(0, 60);
}

TEST(Forms, NameTheirBoundary) {
    EXPECT_EQ(boundary_of("multipart/form-data; boundary=abc"), "abc");
    EXPECT_EQ(boundary_of("Multipart/Form-Data; charset=x; Boundary=\"a;b\""), "a;b");
    for (const auto bad :
         {"",
          "text/plain",
          "multipart/mixed; boundary=a",
          "multipart/form-data",
          "multipart/form-data; boundary=",
          "multipart/form-data; boundary=\"\r\n\""})
        EXPECT_FALSE(boundary_of(bad)) << bad;
    EXPECT_FALSE(boundary_of("multipart/form-data; boundary=" + std::string(71, 'a')));
}

// ----------------------------------------------------------------------------------- policies

const Timestamp noon = *Timestamp::parse("2026-06-19T12:00:00Z");
const Timestamp one_o_clock = *Timestamp::parse("2026-06-19T13:00:00Z");

int status_of(const std::string& policy, const Fields& fields, const Timestamp& now = noon) {
    try {
        Policy::parse(policy).check(fields, now);
        return 200;
    } catch (const Failure& failure) {
        return failure.status();
    }
}

TEST(Policies, AllowExactlyWhatTheySay) {
    const auto policy = policy_text("a/b", "image/png", 100, one_o_clock);
    const Fields right{
        {"key", "a/b"}, {"content-type", "image/png"}, {"policy", "x"}, {"signature", "y"}};
    EXPECT_EQ(Policy::parse(policy).least(), 1);
    EXPECT_EQ(Policy::parse(policy).most(), 100);
    EXPECT_EQ(status_of(policy, right), 200);
    for (const auto& [field, value] : Fields{
             {"key", "a/c"},
             {"key2", "a/b"},
             {"content-type", "image/jpeg"},
             {"acl", "public-read"}}) {
        Fields other = right;
        other[field] = value;
        EXPECT_EQ(status_of(policy, other), 403) << field;
    }
    Fields without = right;
    without.erase("content-type");
    EXPECT_EQ(status_of(policy, without), 403);
}

TEST(Policies, AreGoodUntilTheirTime) {
    const auto policy = policy_text("k", "a/b", 1, one_o_clock);
    const Fields fields{{"key", "k"}, {"content-type", "a/b"}};
    EXPECT_EQ(status_of(policy, fields, {one_o_clock.micros - 1}), 200);
    EXPECT_EQ(status_of(policy, fields, one_o_clock), 403);
}

TEST(Policies, HaveTheWordsOfS3) {
    const std::string policy = R"({"expiration":"2026-06-19T13:00:00Z","conditions":[
        ["starts-with","$key","user/"],["eq","$acl","private"],{"Bucket":"b"},
        ["starts-with","$success_action_redirect",""],["content-length-range",5,10]]})";
    Fields fields{
        {"key", "user/x"},
        {"acl", "private"},
        {"bucket", "b"},
        {"success_action_redirect", "anywhere"},
        {"x-ignore-this", "1"}};
    EXPECT_EQ(status_of(policy, fields), 200);
    fields["key"] = "users/x";
    EXPECT_EQ(status_of(policy, fields), 403);
}

TEST(Policies, ThatAreNoneAreRefused) {
    for (const auto bad :
         {"",
          "[]",
          "{}",
          R"({"expiration":"x","conditions":[]})",
          R"({"conditions":[]})",
          R"({"expiration":"2026-06-19T13:00:00Z","conditions":{}})",
          R"({"expiration":"2026-06-19T13:00:00Z","conditions":[["eq","key","x"]]})",
          R"({"expiration":"2026-06-19T13:00:00Z","conditions":[["like","$key","x"]]})",
          R"({"expiration":"2026-06-19T13:00:00Z","conditions":[["content-length-range","1",2]]})",
          R"({"expiration":"2026-06-19T13:00:00Z","conditions":[{"key":1}]})"})
        EXPECT_EQ(status_of(bad, {{"key", "x"}}), 422) << bad;
}

// ------------------------------------------------------------------------------------- ranges

std::string emitted(std::string_view header, std::uint64_t size) {
    const auto [kind, piece] = range_of(header, size);
    if (kind == Ranged::Kind::whole) return "whole";
    if (kind == Ranged::Kind::beyond) return "beyond";
    return std::to_string(piece.offset) + "+" + std::to_string(piece.size);
}

TEST(Ranges, AreOnePieceOrNone) {
    EXPECT_EQ(emitted("bytes=0-0", 10), "0+1");
    EXPECT_EQ(emitted("bytes=2-5", 10), "2+4");
    EXPECT_EQ(emitted("bytes=2-", 10), "2+8");
    EXPECT_EQ(emitted("bytes=2-999", 10), "2+8");
    EXPECT_EQ(emitted("bytes=-3", 10), "7+3");
    EXPECT_EQ(emitted("bytes=-99", 10), "0+10");
    EXPECT_EQ(emitted("bytes=10-", 10), "beyond");
    EXPECT_EQ(emitted("bytes=-0", 10), "beyond");
    for (const auto odd :
         {"",
          "bytes",
          "bytes=",
          "bytes=-",
          "bytes=5-2",
          "bytes=a-b",
          "bytes=0-1,3-4",
          "lines=0-1",
          "bytes=99999999999999999999-",
          "bytes=1-99999999999999999999",
          "bytes= 1-2"})
        EXPECT_EQ(emitted(odd, 10), "whole") << odd;
}

// ------------------------------------------------------------------------------------ objects

std::string text_at(const Objects& objects, const std::string& key) {
    const auto opened = objects.open(key);
    if (!opened) return "nothing";
    std::string text(opened->size, ' ');
    EXPECT_EQ(
        ::read(opened->descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size())
    );
    ::close(opened->descriptor);
    return text;
}

void put(const Objects& objects, const std::string& key, const std::string& text) {
    const auto file = objects.begin();
    file->write(text);
    objects.publish(*file, key);
}

TEST(ObjectFiles, AppearWholeOrNotAtAll) {
    const test::TempFolder folder("objects");
    const Objects objects(folder.path() / "store");
    objects.make_folder();
    {
        const auto file = objects.begin();
        file->write("half");
        EXPECT_EQ(text_at(objects, "o/f/one"), "nothing");
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "store" / ".unfinished"));
    put(objects, "o/f/one", "first");
    put(objects, "o/f/one", "second");
    EXPECT_EQ(text_at(objects, "o/f/one"), "second");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "store" / ".unfinished"));
    const auto found = objects.read("o/f/one", 3);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->size, 6u);
    EXPECT_EQ(found->beginning, "sec");
    EXPECT_EQ(found->sha256, "16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4");
}

TEST(ObjectFiles, AreMovedAndCleared) {
    const test::TempFolder folder("objects");
    const Objects objects(folder.path() / "store");
    objects.make_folder();
    EXPECT_FALSE(objects.rename("o/f/incoming", "o/f/kept"));
    for (const auto key : {"o/f/incoming", "o/f/other", "o/g/one"}) put(objects, key, key);
    EXPECT_TRUE(objects.rename("o/f/incoming", "o/f/kept"));
    EXPECT_FALSE(objects.rename("o/f/incoming", "o/f/kept"));
    objects.clear("o/f/", "o/f/kept");
    EXPECT_EQ(text_at(objects, "o/f/kept"), "o/f/incoming");
    EXPECT_EQ(text_at(objects, "o/f/other"), "nothing");
    objects.clear("o/f/", std::nullopt);
    EXPECT_EQ(text_at(objects, "o/f/kept"), "nothing");
    EXPECT_EQ(text_at(objects, "o/g/one"), "o/g/one");
    objects.clear("o/f/", std::nullopt);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "store/o/f"));
    EXPECT_EQ(text_at(objects, "o/g/one"), "o/g/one");
}

TEST(ObjectFiles, LeaveNoFolderOfTheirs) {
    for (const auto bad :
         {"",
          "/a",
          "a/",
          "a//b",
          "../a",
          "a/../b",
          "a/./b",
          ".unfinished/x",
          "A",
          "a b",
          "a%2fb",
          "a\\b",
          "a\nb"})
        EXPECT_FALSE(is_key(bad)) << bad;
    EXPECT_FALSE(is_key(std::string_view("a\0b", 3)));
    EXPECT_TRUE(is_key("019b1c2d-0000-7000-8000-000000000000/incoming"));
    const test::TempFolder folder("objects");
    const Objects objects(folder.path() / "store");
    objects.make_folder();
    EXPECT_THROW(objects.open("../secret"), std::logic_error);
    test::write_file(folder.path() / "secret", "secret");
    put(objects, "a/b", "x");
    std::filesystem::remove(folder.path() / "store/a/b");
    std::filesystem::create_symlink(folder.path() / "secret", folder.path() / "store/a/b");
    EXPECT_FALSE(objects.open("a/b"));  // a link leads elsewhere
    EXPECT_FALSE(objects.open("a"));
}

TEST(ObjectFiles, WhatACrashLeftIsRemovedAfterAWhile) {
    const test::TempFolder folder("objects");
    const Objects objects(folder.path() / "store");
    objects.make_folder();
    const auto left = folder.path() / "store/.unfinished/left";
    test::write_file(left, "half");
    objects.remove_unfinished(std::chrono::hours(1));
    EXPECT_TRUE(std::filesystem::exists(left));
    std::filesystem::last_write_time(
        left, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2)
    );
    objects.remove_unfinished(std::chrono::hours(1));
    EXPECT_FALSE(std::filesystem::exists(left));
}

}  // namespace
}  // namespace svc::store_local
