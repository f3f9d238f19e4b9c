#include "svc/attempt.hpp"

namespace svc {

namespace {

constexpr Sql begin{"db.begin_attempt", "SAVEPOINT attempt"};
constexpr Sql undo{"db.undo_attempt", "ROLLBACK TO SAVEPOINT attempt"};
constexpr Sql keep{"db.keep_attempt", "RELEASE SAVEPOINT attempt"};

}  // namespace

std::optional<Failure> attempt(Tx& tx, const std::function<void()>& part) {
    tx.queue(begin);
    try {
        part();
        tx.run(keep);
        return std::nullopt;
    } catch (const Failure& failure) {
        if (failure.status() >= 500 || !tx.roll_back_to(undo)) throw;
        return failure;
    }
}

}  // namespace svc
