#include "tests/unit/accounts/accounts.hpp"

/// What a stranger with a stopwatch learns: nothing. What takes far longer than all else, hashing
/// and mailing, would show as a multiple, so the bounds are wide and the medians of many.
namespace svc::test {
namespace {

constexpr double wide = 1.8;

class Stopwatch : public AccountsTest {
protected:
    Stopwatch()
        : AccountsTest(
              {"auth.password_memory_mib=19",
               "auth.log_ins=10000",
               "auth.log_ins_from_one_place=100000",
               "auth.sign_ups_from_one_place=100000",
               "auth.mail_requests_from_one_place=100000",
               "auth.sign_up_mails=1000"}
          ) {
        person("ada@example.com");
    }

    template <class First, class Second>
    void expect_alike(int rounds, First first, Second second) {
        first(), second();  // from now on everything is prepared
        const double ratio = times_as_long(rounds, first, second);
        EXPECT_LT(ratio, wide);
        EXPECT_GT(ratio, 1 / wide);
    }
};

TEST_F(Stopwatch, ALogInWithAnUnknownAddressTakesAsLong) {
    expect_alike(
        15,
        [&] { expect(401, log_in("ada@example.com", other_password)); },
        [&] { expect(401, log_in("nobody@example.com", other_password)); }
    );
}

TEST_F(Stopwatch, ALogInTakesAsLongWhetherOrNotASignUpWaits) {
    expect(201, sign_up("waiting@example.com"));
    expect_alike(
        15,
        [&] { expect(401, log_in("waiting@example.com", other_password)); },
        [&] { expect(401, log_in("nobody@example.com", other_password)); }
    );
}

TEST_F(Stopwatch, ALogInWithAPreparedPasswordTakesAsLong) {
    expect(201, sign_up("ada@example.com", other_password));
    expect(201, sign_up("waiting@example.com", other_password));
    expect_alike(
        15,
        [&] { expect(403, log_in("ada@example.com", other_password)); },
        [&] { expect(403, log_in("waiting@example.com", other_password)); }
    );
}

TEST_F(Stopwatch, ASignUpWithAKnownAddressTakesAsLong) {
    expect_alike(
        15,
        [&] { expect(201, sign_up("ada@example.com")); },
        [&] { expect(201, sign_up("eve@example.com")); }
    );
}

TEST_F(Stopwatch, AskingForANewPasswordTakesAsLong) {
    expect_alike(
        40,
        [&] { expect(204, ask_for_reset("ada@example.com")); },
        [&] { expect(204, ask_for_reset("nobody@example.com")); }
    );
}

TEST_F(Stopwatch, AskingForAnotherLinkTakesAsLong) {
    expect_alike(
        40,
        [&] { expect(204, resend("ada@example.com")); },
        [&] { expect(204, resend("nobody@example.com")); }
    );
}

}  // namespace
}  // namespace svc::test
