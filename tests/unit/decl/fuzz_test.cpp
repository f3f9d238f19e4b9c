// Random changes to good input: whatever comes of it, it ends in a value or in a Failure.

#include "reading.hpp"
#include "sample_api.hpp"

#include <gtest/gtest.h>

namespace svc::test {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view seeds[] = {
    R"({"flag":true,"number":3,"amount":1.5e0,"text":"abc","id":"01890a5dac96774bbcceb302099a8057",)"
    R"("time":"2026-06-19T10:11:12+02:00","email":"ada@example.com","url":"https://example.com",)"
    R"("date":"2026-06-19","mood":"new","words":["a","b"],"leaves":[{"word":"x","count":2}],)"
    R"("counts":{"a":1},"leaf":{"word":"z"},"any":{"x":[1,null,"\u00e9\ud83d\ude00"]},"perhaps":null})",
    R"([[[[{"a":[{"b":{"c":[1,-2,3.5e-7,18446744073709551615]}}]}]]],"\"\\\/\b\f\n\r\t"])",
    R"({"items":[{"op":"create","create":{"name":"é€😀","key":"AB1","icon":{"emoji":"x"}}}]})",
};

class Random {
public:
    std::size_t below(std::size_t bound) {
        state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
        return static_cast<std::size_t>(state_ % bound);
    }

private:
    std::uint64_t state_ = 0x9E3779B97F4A7C15;
};

// A byte changed, put in or taken out, or a stretch of a seed put in.
void mutate(std::string& text, Random& random) {
    constexpr auto telling = "{}[]\",:\\ue+-.019tfn \0\x1f\x80\xC3\xED\xF4\xFF"sv;
    const std::size_t place = random.below(text.size() + 1);
    const char byte = telling[random.below(telling.size())];
    switch (random.below(4)) {
        case 0: text.insert(place, 1, byte); break;
        case 1: text.erase(place, 1 + random.below(3)); break;
        case 2: text.replace(place, std::min<std::size_t>(1, text.size() - place), 1, byte); break;
        default: {
            const std::string_view seed = seeds[random.below(std::size(seeds))];
            text.insert(place, seed.substr(random.below(seed.size()), random.below(40)));
        }
    }
}

template <class Each>
void for_mutations(int rounds, const Each& each) {
    Random random;
    for (int round = 0; round < rounds; ++round) {
        std::string text(seeds[random.below(std::size(seeds))]);
        for (std::size_t changes = random.below(4); changes > 0; --changes) mutate(text, random);
        each(text);
    }
}

TEST(Fuzz, TextIsEitherAValueThatRoundTripsOrARefusalWithAPlace) {
    int values = 0, refusals = 0;
    for_mutations(40'000, [&](const std::string& text) {
        const auto parsed = decl::parse_strictly(text);
        if (parsed.problem) {
            ++refusals;
            ASSERT_LE(parsed.problem->offset, text.size());
            ASSERT_FALSE(parsed.problem->error.empty());
            return;
        }
        ++values;
        const std::string written = text_of(&parsed.value);
        const auto again = decl::parse_strictly(written);
        ASSERT_FALSE(again.problem) << written;
        ASSERT_EQ(text_of(&again.value), written);
    });
    EXPECT_GT(values, 5'000);
    EXPECT_GT(refusals, 5'000);
}

void serve(Call&, const Everything&) {}
const Operation everything{
    .name = "everything", .route = "POST /v1/everything", .summary = "All.", .handler = serve};

// Runs `work`: true when it gave a value, false when it threw a Failure 422 whose body is JSON.
template <class Work>
bool gives_value(const Work& work) {
    try {
        work();
        return true;
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.status(), 422);
        EXPECT_FALSE(decl::parse_strictly(failure.body("r"), {64, 1'000'000}).problem);
        return false;
    }
}

TEST(Fuzz, RecordsAreFilledOrRefusedAndWhatIsFilledReadsBack) {
    int filled = 0, refused = 0;
    for_mutations(20'000, [&](const std::string& text) {
        Everything in;
        const bool good = gives_value([&] {
            decl::fill_flat(everything, decl::parse_json(text, "arguments"), &in);
        });
        ++(good ? filled : refused);
        if (!good) return;
        const auto again = read<Everything>(to_json(in));
        ASSERT_TRUE(again.problems.empty()) << text;
        ASSERT_EQ(again.value, in) << text;
    });
    EXPECT_GT(filled, 500);
    EXPECT_GT(refused, 5'000);
}

TEST(Fuzz, RestRequestsAreFilledOrRefused) {
    const Operation& batch = sample_operation("batch_boards");
    for_mutations(10'000, [&](const std::string& text) {
        http::Request request;
        request.body = text;
        request.query = std::string_view(text).substr(0, 30);
        request.query = request.query.substr(0, request.query.find('\0'));  // no head has a NUL
        decl::Parts parts;
        parts.request = &request;
        gives_value([&] {
            BatchRequest in;
            decl::RestInput(batch, parts).fill(&in);
        });
        request.query = {};
        gives_value([&] {
            BatchRequest in;
            decl::RestInput(batch, parts).fill(&in);
        });
    });
}

TEST(Fuzz, CellsAreReadOrAreAMisfit) {
    for_mutations(10'000, [&](const std::string& text) {
        Everything in;
        try {
            Json<Everything>::from_db({text.data(), text.size(), false}, in);
        } catch (const std::logic_error&) {
        }
    });
}

TEST(Fuzz, FormatsTakeAnyBytes) {
    Random random;
    for (int round = 0; round < 50'000; ++round) {
        std::string text(random.below(2) ? "ada@example.com" : "2026-06-19T10:11:12.5+01:00");
        if (random.below(2)) text = "https://example.com:80/a?b#c";
        for (int i = 0; i < 3; ++i) mutate(text, random);
        const auto email = Email::parse(text);
        EXPECT_TRUE(!email || Email::parse(email->str()) == email) << text;
        Url::parse(text);
        Date::parse(text);
        Uuid::parse(text);
        const auto time = Timestamp::parse(text);
        EXPECT_TRUE(!time || Timestamp::parse(time->str())) << text;
    }
}

}  // namespace
}  // namespace svc::test
