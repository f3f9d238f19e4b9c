#include "modules/auth/password_service.hpp"

#include "modules/auth/hash_pool.hpp"
#include "modules/auth/lib/passwords.hpp"
#include "modules/auth/limits.hpp"

namespace svc::auth {

namespace {

/// What the guesses are counted by: the thing and the place, and the thing alone.
struct Counted {
    DatabaseRateLimit here, anywhere;
    std::string who_here, who_anywhere;

    Counted(Call& call, const PasswordService::Guess& guess)
        : here(guesses_from_one_place(call, guess.what)),
          anywhere(guesses_from_anywhere(call, guess.what)),
          who_here(guess.subject + ' ' + network_of(call.client_address())),
          who_anywhere(guess.subject) {}

    void admit(Kernel& kernel) const {
        RateWindow at_here, at_anywhere;
        kernel.transact(Tx::Mode::write, [&](Tx& tx) {
            auto first = here.count(tx, who_here);
            auto second = anywhere.count(tx, who_anywhere);
            at_here = first.one_or_retry();
            at_anywhere = second.one_or_retry();
        });
        here.require(at_here);
        anywhere.require(at_anywhere);
    }
    void refund(Kernel& kernel) const {
        kernel.transact(Tx::Mode::write, [&](Tx& tx) {
            here.refund(tx, who_here);
            anywhere.refund(tx, who_anywhere);
        });
    }
};

}  // namespace

std::string PasswordServiceImpl::hash(Call& call, const std::string& password) {
    return call.use<HashPool>().result_of<std::string>(call, [&] {
        return [&passwords = call.use<Passwords>(), password] { return passwords.hash(password); };
    });
}

bool PasswordServiceImpl::matches(Call& call, const Guess& guess) {
    const Counted counted(call, guess);
    const bool right = call.use<HashPool>().result_of<bool>(call, [&] {
        counted.admit(call.kernel());
        return [&passwords = call.use<Passwords>(), guess] {
            return passwords.matches(guess.hash, guess.password);
        };
    });
    if (right) counted.refund(call.kernel());
    return right;
}

}  // namespace svc::auth
