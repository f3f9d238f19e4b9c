#include "tests/support/refusals.hpp"

#include "svc/types.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace svc::test {

namespace {

namespace json = boost::json;

/// Without the query, and `{}` for each id: what differs from call to call.
std::string without_ids(std::string_view where) {
    where = where.substr(0, where.find('?'));
    std::string out;
    while (!where.empty()) {
        const auto end = where.find_first_of("/:", 1);
        const auto part = where.substr(0, end);
        const bool is_id = Uuid::parse(part.substr(1)).has_value();
        out += is_id ? std::string(1, part.front()) + "{}" : std::string(part);
        where = end == std::string_view::npos ? "" : where.substr(end);
    }
    return out;
}

/// What tells this refusal from others of the operation.
std::string cause_of(const json::object& body) {
    std::string cause = json::serialize(body.at("status")) + ' ' + json::serialize(body.at("code"));
    if (const auto* more = body.if_contains("additional_data"))
        for (const char* member : {"reason", "limit", "rate_limit_reason"})
            if (const auto* value = more->as_object().if_contains(member))
                cause += ' ' + json::serialize(*value);
    return cause;
}

std::string name_of_test() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return test ? std::string(test->test_suite_name()) + '.' + test->name() : "";
}

void append(const char* file, const std::string& line) {
    // One write to a file opened so goes to its end whole, whoever else writes there.
    const int fd = ::open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const bool written = fd >= 0 && ::write(fd, line.data(), line.size()) > 0;
    if (fd >= 0) ::close(fd);
    EXPECT_TRUE(written) << "cannot write to " << file;
}

}  // namespace

void note_refusal(std::string_view where, std::string_view body) {
    static const char* const file = std::getenv("WORKBOARD_REFUSALS");
    if (!file) return;
    json::error_code problem;
    const json::value parsed = json::parse(body, problem);
    const json::object* refusal = problem ? nullptr : parsed.if_object();
    if (!refusal || !refusal->contains("object") || refusal->at("object") != "error") return;

    static std::mutex mutex;
    static std::set<std::string> noted;
    const std::string place = without_ids(where);
    const std::lock_guard lock(mutex);
    if (!noted.insert(place + ' ' + cause_of(*refusal)).second) return;
    const json::value line{{"where", place}, {"test", name_of_test()}, {"body", parsed}};
    append(file, json::serialize(line) + '\n');
}

}  // namespace svc::test
