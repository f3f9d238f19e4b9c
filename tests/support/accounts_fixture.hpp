#pragma once

#include "svc/types.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/reused_server.hpp"
#include "tests/support/workspace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <regex>

/// People, workspaces and tokens on the real program.
namespace svc::test {

namespace json = boost::json;

inline constexpr const char* password = "correct horse battery";
inline constexpr const char* other_password = "another horse entirely";

/// A server and its accounts.
class AccountsTest : public testing::Test {
protected:
    explicit AccountsTest(std::vector<std::string> settings = {}) : reused_(std::move(settings)) {}

    /// Of another on its database.
    Server::Options options(std::vector<std::string> settings) const {
        return {.database_url = database, .settings = std::move(settings)};
    }

    Client client() const { return server.client(); }
    /// A client that keeps no cookies: every header is the caller's.
    Reply once(
        std::string_view method,
        std::string_view path,
        const json::value& body = nullptr,
        const Headers& headers = {}
    ) const {
        return client().send(
            method, path, body.is_null() ? std::string() : json::serialize(body), headers
        );
    }

    Reply sign_up(const std::string& email, const std::string& with = password) {
        return once(
            "POST", "/v1/auth/signup", {{"email", email}, {"password", with}, {"name", "Ada"}}
        );
    }
    Reply log_in(Client& by, const std::string& email, const std::string& with = password) {
        return by.post("/v1/auth/login", json::value{{"email", email}, {"password", with}});
    }
    Reply log_in(const std::string& email, const std::string& with = password) {
        Client fresh = client();
        return log_in(fresh, email, with);
    }
    Reply ask_for_reset(const std::string& email) {
        return once("POST", "/v1/auth/password-reset/request", {{"email", email}});
    }
    Reply reset(const std::string& token, const std::string& to = other_password) {
        return once(
            "POST", "/v1/auth/password-reset/confirm", {{"token", token}, {"new_password", to}}
        );
    }
    Reply resend(const std::string& email) {
        return once("POST", "/v1/auth/resend-verification", {{"email", email}});
    }
    /// The token in the newest of `count` mails to the address.
    std::string mailed_token(const std::string& email, std::size_t count = 1) {
        return mail_value(server.mail_to(email, count), "token=");
    }
    Reply verify(const std::string& token) {
        return once("POST", "/v1/auth/verify-email", {{"token", token}});
    }
    /// A verified person, signed in.
    Client person(const std::string& email) {
        expect(201, sign_up(email));
        Client made = client();
        const json::value token{{"token", mailed_token(email)}};
        expect(200, made.post("/v1/auth/verify-email", token));
        return made;
    }
    /// A verified person whose account has no password, signed in.
    Client person_without_password(const std::string& email) {
        Client made = person(email);
        ask("DELETE FROM passwords RETURNING user_id");
        return made;
    }
    /// The first column of the first row, asked as the superuser.
    std::string ask(std::string_view sql) { return Postgres::shared().run(sql, database); }

    /// Runs `work` on so many threads at once, and gives what each came to.
    template <class Work>
    static auto at_once(int threads, Work work) {
        std::vector<std::future<decltype(work(0))>> running;
        std::atomic<int> ready{0};
        for (int i = 0; i < threads; ++i)
            running.push_back(std::async(std::launch::async, [&, i] {
                for (++ready; ready < threads;) std::this_thread::yield();
                return work(i);
            }));
        std::vector<decltype(work(0))> results;
        for (auto& each : running) results.push_back(each.get());
        return results;
    }

    /// How often the second takes as long as the first: of the middles of many runs in turns.
    template <class First, class Second>
    static double times_as_long(int rounds, First first, Second second) {
        std::vector<double> firsts, seconds;
        const auto measure = [](auto& work, std::vector<double>& into) {
            const auto start = std::chrono::steady_clock::now();
            work();
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            into.push_back(took.count());
        };
        for (int i = 0; i < rounds; ++i) measure(first, firsts), measure(second, seconds);
        const auto middle = [](std::vector<double>& of) {
            std::ranges::nth_element(of, of.begin() + static_cast<long>(of.size() / 2));
            return of[of.size() / 2];
        };
        return middle(seconds) / middle(firsts);
    }

private:
    ReusedServer reused_;

protected:
    const std::string& database = reused_.database();
    Server& server = reused_.server();
};

/// The body with every id, instant and token made alike: what a stranger can compare.
inline std::string without_ids(const Reply& reply) {
    std::string body = reply.body;
    const auto blank = [&](const char* pattern, const char* with) {
        body = std::regex_replace(body, std::regex(pattern), with);
    };
    blank("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID");
    blank("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z", "TIME");
    return body;
}

inline std::vector<std::string> header_names(const Reply& reply) {
    std::vector<std::string> names;
    for (const auto& [name, value] : reply.headers) names.push_back(name);
    return names;
}

inline int count_status(const std::vector<Reply>& replies, int status) {
    return static_cast<int>(std::ranges::count(replies, status, &Reply::status));
}

/// `{"loc": …}` of the first problem in a 422.
inline json::value first_loc(const Reply& reply) {
    return reply.json().at("detail").at(0).at("loc");
}

}  // namespace svc::test
