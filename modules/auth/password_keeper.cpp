#include "modules/auth/password_keeper.hpp"

#include "modules/auth/lib/passwords.hpp"
#include "modules/auth/lib/slow_work.hpp"
#include "modules/auth/limits.hpp"

namespace svc::auth {

namespace {

/// What the guesses are counted by: the thing and the place, and the thing alone.
struct Counted {
    Limit here, anywhere;
    std::string who_here, who_anywhere;

    Counted(Call& call, const PasswordKeeper::Guess& guess)
        : here(guesses_from_one_place(call, guess.what)),
          anywhere(guesses_from_anywhere(call, guess.what)),
          who_here(guess.subject + ' ' + network_of(call.client_address())),
          who_anywhere(guess.subject) {}

    void admit(Kernel& kernel) const {
        std::optional<Window> at_here, at_anywhere;
        kernel.transact(Tx::Mode::write, [&](Tx& tx) {
            auto first = count_attempt(tx, kernel, here, who_here);
            auto second = count_attempt(tx, kernel, anywhere, who_anywhere);
            at_here = first.one();
            at_anywhere = second.one();
        });
        require_within(here, at_here.value());
        require_within(anywhere, at_anywhere.value());
    }
    void take_back(Kernel& kernel) const {
        kernel.transact(Tx::Mode::write, [&](Tx& tx) {
            auth::take_back(tx, kernel, here, who_here);
            auth::take_back(tx, kernel, anywhere, who_anywhere);
        });
    }
};

}  // namespace

std::string PasswordKeeperHere::hash(Call& call, const std::string& password) {
    return call.use<SlowWork>().result_of<std::string>(call, [&] {
        return [&passwords = call.use<Passwords>(), password] { return passwords.hash(password); };
    });
}

bool PasswordKeeperHere::matches(Call& call, const Guess& guess) {
    const Counted counted(call, guess);
    const bool right = call.use<SlowWork>().result_of<bool>(call, [&] {
        counted.admit(call.kernel());
        return [&passwords = call.use<Passwords>(), guess] {
            return passwords.matches(guess.hash, guess.password);
        };
    });
    if (right) counted.take_back(call.kernel());
    return right;
}

}  // namespace svc::auth
