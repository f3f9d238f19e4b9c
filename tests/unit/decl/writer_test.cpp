#include "reading.hpp"
#include "samples.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace svc::test {
namespace {

std::string written(std::string_view text) {
    std::string out;
    write_text(text, out);
    return out;
}

TEST(WriteText, EscapesWhatJsonAsksFor) {
    EXPECT_EQ(written(""), "\"\"");
    EXPECT_EQ(written("plain text / <b>"), "\"plain text / <b>\"");
    EXPECT_EQ(written("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
    EXPECT_EQ(written(std::string_view("\0\x01\x1f\x7f", 4)), "\"\\u0000\\u0001\\u001f\x7f\"");
    EXPECT_EQ(written("é€😀"), "\"é€😀\"");
}

TEST(WriteText, FindsTheSpecialByteAtEveryPlaceOfALongText) {
    for (std::size_t size = 1; size < 40; ++size)
        for (std::size_t place = 0; place < size; ++place)
            for (char special : {'"', '\\', '\n', '\x01', '\x1f'}) {
                std::string text(size, 'x');
                text[place] = special;
                const json::value back = decl::parse_json(written(text));
                ASSERT_EQ(std::string_view(back.get_string()), text) << size << ' ' << place;
            }
}

TEST(WriteText, EveryAsciiTextReadsBackAsItWas) {
    std::string all;
    for (int c = 1; c < 128; ++c) all += static_cast<char>(c);
    for (std::size_t from = 0; from < 16; ++from) {
        const json::value back = decl::parse_json(written(all.substr(from)));
        EXPECT_EQ(std::string_view(back.get_string()), all.substr(from));
    }
}

TEST(WriteText, IllFormedUtf8NeverGetsOut) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"a\xFFz", "\"a�z\""},
        {"\xC3", "\"�\""},
        {"\xC3(", "\"�(\""},
        {"\xC0\xAF", "\"��\""},            // overlong
        {"\xE0\x80\xAF", "\"���\""},       // overlong
        {"\xED\xA0\x80", "\"���\""},       // surrogate
        {"\xF4\x90\x80\x80", "\"����\""},  // beyond U+10FFFF
        {"\xE2\x82", "\"�\""},             // cut: one for the part that is right
        {"\xF0\x9F\x98"
         "a",
         "\"�a\""},
        {"\x80\x80", "\"��\""},
        {"é\xE9é", "\"é�é\""},
    };
    for (const auto& [text, expected] : cases) EXPECT_EQ(written(text), expected);
}

TEST(WriteText, WhateverTheBytesTheJsonIsWellFormed) {
    std::uint64_t random = 88172645463325252;
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (int i = 0; i < 12; ++i) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            text += static_cast<char>(random >> 32 | (i % 3 ? 0x80 : 0));
        }
        const auto parsed = decl::parse_strictly(written(text));
        ASSERT_TRUE(text.find("\0", 0, 1) != text.npos || !parsed.problem) << round;
    }
}

template <class T>
std::string json_of(const T& value) {
    std::string out;
    Json<T>::write(value, out);
    return out;
}

TEST(Write, NumbersAreAsShortAsTheyCanBe) {
    EXPECT_EQ(json_of(0.1), "0.1");
    EXPECT_EQ(json_of(5.0), "5");
    EXPECT_EQ(json_of(-0.0), "0");
    EXPECT_EQ(json_of(1e300), "1e+300");
    EXPECT_EQ(json_of(0.1 + 0.2), "0.30000000000000004");
    EXPECT_EQ(json_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(json_of(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
}

TEST(Write, WhatJsonCannotSayIsNull) {
    EXPECT_EQ(json_of(std::nan("")), "null");
    EXPECT_EQ(json_of(-HUGE_VAL), "null");
    EXPECT_EQ(json_of(JsonText{""}), "null");
    EXPECT_EQ(json_of(std::optional<bool>()), "null");
}

TEST(Write, ListsMapsEnumsAndVariants) {
    EXPECT_EQ(json_of(std::vector<std::string>{"a", "b"}), R"(["a","b"])");
    EXPECT_EQ(json_of(std::vector<std::int64_t>{}), "[]");
    EXPECT_EQ(
        json_of(std::map<std::string, double>{{"x\"", 1.5}, {"y", 2}}), R"({"x\"":1.5,"y":2})"
    );
    EXPECT_EQ(json_of(Mood::new_), "\"new\"");
    EXPECT_EQ(name_of(Mood::new_), "new");
    EXPECT_EQ(json_of(std::variant<Leaf, Everything>(Leaf{"w", 1})), R"({"word":"w","count":1})");
}

struct Sparse {
    Object<"sparse"> object;
    std::optional<std::string> maybe;
    std::vector<std::string> list;
    std::string text;
    bool flag = false;
    Patch<std::string> patch;
    std::optional<std::int64_t> always;
};
SVC_RECORD(
    Sparse,
    (object),
    (maybe, "", omit_empty),
    (list, "", omit_empty),
    (text, "", omit_empty),
    (flag, "", omit_empty),
    (patch, "", omit_empty),
    (always)
);

TEST(Write, LeavesOutWhatIsEmptyWhereTheRecordSaysSo) {
    EXPECT_EQ(to_json(Sparse{}), R"({"object":"sparse","always":null})");
    EXPECT_EQ(
        to_json(Sparse{{}, "m", {"l"}, "t", true, {"p"}, 0}),
        R"({"object":"sparse","maybe":"m","list":["l"],"text":"t","flag":true,"patch":"p","always":0})"
    );
}

TEST(Write, APageIsTheListWrapper) {
    std::string out;
    detail::write_page_head(record_of<Sparse>(), out);
    out += "[]";
    detail::write_page_tail(record_of<Sparse>(), std::nullopt, "r-1", out);
    EXPECT_EQ(
        out,
        R"({"object":"list","type":"sparse","sparse":{},"results":[],)"
        R"("next_cursor":null,"has_more":false,"request_id":"r-1"})"
    );
    out.clear();
    detail::write_page_tail(record_of<Sparse>(), "c", "r", out);
    EXPECT_EQ(out, R"(,"next_cursor":"c","has_more":true,"request_id":"r"})");
}

TEST(Write, APrincipalHasNoTypeKey) {
    const Caller caller{.type = PrincipalType::agent, .name = "Bot"};
    EXPECT_EQ(
        to_json(ref_of(caller)),
        R"({"object":"user","id":"00000000-0000-0000-0000-000000000000","principal_type":"agent","name":"Bot"})"
    );
}

// ----------------------------------------------------------------- difference

struct Account {
    std::string name;
    std::string password;
};
SVC_RECORD(Account, (name), (password, "", secret));
struct Common {
    std::int64_t version = 1;
    std::string token;
};
SVC_RECORD(Common, (version), (token, "", secret));
struct Holder {
    Object<"holder"> object;
    std::string title;
    std::string digest;
    std::optional<std::string> note;
    std::vector<Account> accounts;
    Common common;
};
SVC_RECORD(
    Holder,
    (object),
    (title),
    (digest, "", secret),
    (note, "", omit_empty),
    (accounts),
    (common, "", flatten)
);

struct Diff {
    std::string changes = "?", previous = "?";
};
Diff difference(const Holder* before, const Holder& after) {
    Diff diff;
    write_difference(record_of<Holder>(), before, &after, diff.changes, diff.previous);
    return diff;
}

TEST(Difference, HoldsTheFieldsThatDifferAndNoOthers) {
    const Holder before{{}, "a", "d1", std::nullopt, {}, {1, "t1"}};
    const Holder after{{}, "b", "d1", "n", {}, {2, "t1"}};
    const Diff diff = difference(&before, after);
    EXPECT_EQ(diff.changes, R"({"title":"b","note":"n","version":2})");
    EXPECT_EQ(diff.previous, R"({"title":"a","note":null,"version":1})");
    EXPECT_EQ(difference(&after, before).changes, R"({"title":"a","note":null,"version":1})");
    EXPECT_EQ(difference(&before, before).changes, "{}");
    EXPECT_EQ(difference(&before, before).previous, "{}");
}

TEST(Difference, NeverHoldsASecretAtAnyDepth) {
    const Holder before{{}, "a", "d1", {}, {{"x", "p1"}}, {1, "t1"}};
    Holder after = before;
    after.digest = "d2";
    after.common.token = "t2";
    after.accounts[0].password = "p2";
    EXPECT_EQ(difference(&before, after).changes, "{}");
    after.accounts[0].name = "y";
    EXPECT_EQ(difference(&before, after).changes, R"({"accounts":[{"name":"y"}]})");
    EXPECT_EQ(difference(&before, after).previous, R"({"accounts":[{"name":"x"}]})");
    // Outside of a difference they are written: a token is shown once.
    EXPECT_EQ(to_json(after.accounts[0]), R"({"name":"y","password":"p2"})");
}

struct Kept {
    AsJson<PrincipalRef> by;
};
SVC_RECORD(Kept, (by));

TEST(Difference, IsOfWhatIsSaidAndNotOfHow) {
    const auto changes = [](std::string was, std::string is) {
        Kept before, after;
        before.by.text = std::move(was);
        after.by.text = std::move(is);
        std::string changed, previous;
        write_difference(record_of<Kept>(), &before, &after, changed, previous);
        return changed;
    };
    EXPECT_EQ(changes(R"({"id": "1", "name": "Ada"})", R"({"name":"Ada","id":"1"})"), "{}");
    EXPECT_EQ(changes(R"({"name": "Ada"})", R"({"name":"Bo"})"), R"({"by":{"name":"Bo"}})");
    EXPECT_EQ(changes("null", R"({"name":"Bo"})"), R"({"by":{"name":"Bo"}})");
    EXPECT_EQ(changes("{", "{}"), R"({"by":{}})");
}

TEST(Difference, OfSomethingNewIsTheWholeRecord) {
    const Diff diff = difference(nullptr, Holder{{}, "a", "d", {}, {}, {1, "t"}});
    EXPECT_EQ(diff.changes, R"({"object":"holder","title":"a","accounts":[],"version":1})");
    EXPECT_EQ(diff.previous, "{}");
}

}  // namespace
}  // namespace svc::test
