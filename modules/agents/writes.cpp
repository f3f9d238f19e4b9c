#include "modules/agents/writes.hpp"

#include <Poco/Logger.h>

#include <chrono>
#include <thread>

namespace svc::agents {

namespace {

constexpr Sql await_writes{"agents.await_writes", R"(
    SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0)))"};

/// Longer than any transaction of a request lives.
constexpr auto patience = std::chrono::minutes(2);
constexpr auto pause = std::chrono::milliseconds(50);

/// One statement may wait for `database.statement_seconds` only, a write may take several of them:
/// so it asks again. What was committed before stays, whatever comes of the waiting.
void wait_for_writes(Kernel& kernel, const Uuid& name) noexcept {
    const auto until = std::chrono::steady_clock::now() + patience;
    std::string trouble;
    do {
        try {
            kernel.transact(Tx::Mode::write, [&](Tx& tx) { tx.queue(await_writes, name); });
            return;
        } catch (const std::exception& problem) {
            trouble = problem.what();
        }
        std::this_thread::sleep_for(pause);
    } while (std::chrono::steady_clock::now() < until);
    Poco::Logger::get("agents").error(
        "what " + name.str() + " was writing is not known to be over: " + trouble
    );
}

}  // namespace

void await_writes_after(Call& call, const Uuid& name) {
    call.after_commit([&kernel = call.kernel(), name] { wait_for_writes(kernel, name); });
}

}  // namespace svc::agents
