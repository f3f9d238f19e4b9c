#pragma once

#include "svc/operation.hpp"

/// Records of every kind of field, for the tests of this folder.
namespace svc::test {

enum class Mood { calm, eager, new_ };
BOOST_DESCRIBE_ENUM(Mood, calm, eager, new_)

struct Leaf {
    std::string word;
    std::optional<std::int64_t> count;
    auto operator<=>(const Leaf&) const = default;
};
SVC_RECORD(Leaf, (word, "A word.", length(1, 5)), (count, "How many.", range(0, 9)));

struct Everything {
    Object<"everything"> object;
    bool flag = false;
    std::int64_t number = 0;
    double amount = 0;
    std::string text;
    Uuid id;
    Timestamp time;
    Email email;
    Url url;
    Date date;
    Mood mood = Mood::calm;
    std::vector<std::string> words;
    std::vector<Leaf> leaves;
    std::map<std::string, std::int64_t> counts;
    Leaf leaf;
    JsonText any;
    std::optional<std::string> perhaps;
    auto operator<=>(const Everything&) const = default;
};
SVC_RECORD(
    Everything,
    (object, "Always \"everything\"."),
    (flag, "Yes or no."),
    (number, "A whole number.", range(-5, 5)),
    (amount, "Any number.", range(0, 100)),
    (text, "Some text.", length(2, 4)),
    (id, "A UUID."),
    (time, "An instant."),
    (email, "An address."),
    (url, "Another address."),
    (date, "A day."),
    (mood, "How it is."),
    (words, "Up to three short ones.", length(1, 3), items_up_to(4)),
    (leaves, "Nested.", length(0, 2)),
    (counts, "By name.", length(0, 2)),
    (leaf, "One nested."),
    (any, "Any JSON."),
    (perhaps, "Text or null.", length(1, 3))
);

}  // namespace svc::test
