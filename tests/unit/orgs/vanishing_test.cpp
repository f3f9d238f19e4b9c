#include "tests/unit/orgs/orgs_fixture.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

/// A workspace that is deleted while others work in it: they are told that it is gone, or that they
/// are no longer anybody in it, and the server lives on.
namespace svc::test {
namespace {

class Vanishing : public WorkspacesTest {
protected:
    /// Deletes the workspace in the midst of what `work` does on eight clients of Ada's.
    void delete_beneath(const std::function<Reply(Client&, int)>& work) {
        std::atomic<bool> over = false;
        std::atomic<int> begun = 0;
        std::vector<int> odd;
        std::mutex mutex;
        std::vector<std::thread> threads;
        std::vector<Client> clients;
        for (int i = 0; i < 8; ++i) clients.push_back(program(ada));
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&, i] {
                for (int turn = 0; !over && turn < 200; ++turn) {
                    const int status =
                        work(clients[static_cast<std::size_t>(i)], i * 1000 + turn).status;
                    ++begun;
                    const std::lock_guard lock(mutex);
                    if (status >= 500 || status == 0) odd.push_back(status);
                    if (status == 401 || status == 404) return;
                }
            });
        while (begun < 8) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        expect(204, remove(ada, here + "?confirm=acme"));
        over = true;
        for (auto& each : threads) each.join();
        EXPECT_THAT(odd, testing::IsEmpty());
        expect(200, client().get("/healthz"));
    }
};

TEST_F(Vanishing, BeneathThoseWhoAddMembers) {
    delete_beneath([&](Client& by, int number) {
        return add(by, "p" + std::to_string(number) + "@example.com");
    });
}

TEST_F(Vanishing, BeneathThoseWhoInvite) {
    delete_beneath([&](Client& by, int number) {
        return invite(by, "p" + std::to_string(number) + "@example.com");
    });
}

TEST_F(Vanishing, BeneathThoseWhoMakeBoards) {
    delete_beneath([&](Client& by, int number) {
        return by.post("/v1/boards", json::value{{"name", "B" + std::to_string(number)}});
    });
}

TEST_F(Vanishing, BeneathThoseWhoMakeTokens) {
    delete_beneath([&](Client& by, int number) {
        return by.post(
            "/v1/tokens",
            json::value{
                {"kind", "integration"}, {"name", "T" + std::to_string(number)}, {"role", "member"}}
        );
    });
}

TEST_F(Vanishing, BeneathThoseWhoAnswerAnInvitation) {
    std::vector<Client> guests;
    std::vector<std::string> invitation_ids;
    for (int i = 0; i < 6; ++i) {
        const auto email = "g" + std::to_string(i) + "@example.com";
        guests.push_back(person(email));
        expect(201, invite(ada, email));
        const auto found = expect(200, guests.back().get("/v1/me/invitations"));
        invitation_ids.push_back(found.text("/results/0/id"));
    }
    std::vector<std::thread> threads;
    std::vector<int> statuses(guests.size());
    for (std::size_t i = 0; i < guests.size(); ++i)
        threads.emplace_back([&, i] {
            statuses[i] = (i % 2 ? accept(guests[i], invitation_ids[i])
                                 : decline(guests[i], invitation_ids[i]))
                              .status;
        });
    expect(204, remove(ada, here + "?confirm=acme"));
    for (auto& each : threads) each.join();
    for (const int status : statuses) EXPECT_THAT(status, testing::AnyOf(200, 204, 404, 409));
    expect(200, client().get("/healthz"));
}

}  // namespace
}  // namespace svc::test
