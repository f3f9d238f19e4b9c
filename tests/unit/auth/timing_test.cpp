#include "tests/support/accounts_fixture.hpp"

/// What a stranger with a stopwatch learns: nothing. What takes longer than all else is hashing,
/// and one hash more or less shows as a multiple: as twice the time of a call that makes one, as
/// five times that of a call that makes none. The bounds are wide, for other things run on the
/// machine; what is compared are the medians of many in turns.
namespace svc::test {
namespace {

constexpr double of_hashes = 1.7, of_mails = 3;

class Stopwatch : public AccountsTest {
protected:
    Stopwatch()
        : AccountsTest(
              {"auth.password_memory_mib=16",
               "auth.log_ins=10000",
               "auth.log_ins_from_one_place=100000",
               "auth.sign_ups_from_one_place=100000",
               "auth.mail_requests_from_one_place=100000",
               "auth.sign_up_mails=1000"}
          ) {
        person("ada@example.com");
    }

    template <class First, class Second>
    void expect_alike(double bound, First first, Second second) {
        constexpr int rounds = 15;
        first(), second();  // from now on everything is prepared
        const double ratio = times_as_long(rounds, first, second);
        EXPECT_LT(ratio, bound);
        EXPECT_GT(ratio, 1 / bound);
    }
};

TEST_F(Stopwatch, ALogInWithAnUnknownAddressTakesAsLong) {
    expect_alike(
        of_hashes,
        [&] { expect(401, log_in("ada@example.com", other_password)); },
        [&] { expect(401, log_in("nobody@example.com", other_password)); }
    );
}

TEST_F(Stopwatch, ALogInTakesAsLongWhetherOrNotASignUpWaits) {
    expect(201, sign_up("waiting@example.com"));
    expect_alike(
        of_hashes,
        [&] { expect(401, log_in("waiting@example.com", other_password)); },
        [&] { expect(401, log_in("nobody@example.com", other_password)); }
    );
}

TEST_F(Stopwatch, ALogInWithAPreparedPasswordTakesAsLong) {
    expect(201, sign_up("ada@example.com", other_password));
    expect(201, sign_up("waiting@example.com", other_password));
    expect_alike(
        of_hashes,
        [&] { expect(403, log_in("ada@example.com", other_password)); },
        [&] { expect(403, log_in("waiting@example.com", other_password)); }
    );
}

TEST_F(Stopwatch, ASignUpWithAKnownAddressTakesAsLong) {
    expect_alike(
        of_hashes,
        [&] { expect(201, sign_up("ada@example.com")); },
        [&] { expect(201, sign_up("eve@example.com")); }
    );
}

TEST_F(Stopwatch, AskingForANewPasswordTakesAsLong) {
    expect_alike(
        of_mails,
        [&] { expect(204, ask_for_reset("ada@example.com")); },
        [&] { expect(204, ask_for_reset("nobody@example.com")); }
    );
}

TEST_F(Stopwatch, AskingForAnotherLinkTakesAsLong) {
    expect_alike(
        of_mails,
        [&] { expect(204, resend("ada@example.com")); },
        [&] { expect(204, resend("nobody@example.com")); }
    );
}

}  // namespace
}  // namespace svc::test
