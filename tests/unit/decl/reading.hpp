#pragma once

#include "decl/input.hpp"
#include "decl/json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

/// What tests of reading share: problems as comparable text.
namespace svc::test {

struct Problem {
    std::string type, loc, ctx, input, message;
};

inline std::string text_of(const json::value* value) {
    std::string text;
    if (value) decl::write_value(*value, text);
    return text;
}

inline std::vector<Problem> problems_in(std::string_view detail) {
    const json::value parsed = decl::parse_json(detail);
    std::vector<Problem> problems;
    for (const json::value& each : parsed.get_array()) {
        const json::object& issue = each.get_object();
        problems.push_back(
            {std::string(issue.at("type").get_string()),
             text_of(issue.if_contains("loc")),
             text_of(issue.if_contains("ctx")),
             text_of(issue.if_contains("input")),
             std::string(issue.at("msg").get_string())}
        );
    }
    return problems;
}

/// `type at loc`, one for each problem.
inline std::vector<std::string> places_in(const std::vector<Problem>& problems) {
    std::vector<std::string> places;
    for (const Problem& each : problems) places.push_back(each.type + " at " + each.loc);
    return places;
}

/// The `detail` of the 422 that `work` ends in; "[]" when it does not.
inline std::string refusal_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Failure& failure) {
        const json::value body = decl::parse_json(failure.body("r"));
        if (failure.status() != 422) return "[]";
        return text_of(&body.get_object().at("detail"));
    }
    return "[]";
}

inline std::vector<std::string> places_of(const std::function<void()>& work) {
    return places_in(problems_in(refusal_of(work)));
}

template <class T>
struct Outcome {
    T value{};
    std::vector<Problem> problems{};
    std::vector<std::string> places() const { return places_in(problems); }
};

template <class T>
Outcome<T> read_value(const json::value& in, bool loose = false, bool trusted = false) {
    Outcome<T> outcome;
    Reader reader;
    reader.loose = loose;
    reader.trusted = trusted;
    auto step = reader.at("body");
    reader.read(record_of<T>(), in, &outcome.value);
    outcome.problems = problems_in(reader.issues());
    return outcome;
}

template <class T>
Outcome<T> read(std::string_view text) {
    return read_value<T>(decl::parse_json(text));
}

}  // namespace svc::test
