#pragma once

#include "svc/types.hpp"

namespace svc::auth {

/// Who may have a new account.
enum class SignUpPolicy { open, invited, off };
BOOST_DESCRIBE_ENUM(SignUpPolicy, open, invited, off)

struct Settings {
    static constexpr std::string_view name = "auth.Settings";  ///< offered to the handlers
    SignUpPolicy sign_up = SignUpPolicy::open;
    std::int64_t session_days = 30;
    std::int64_t session_most_days = 90;
    std::int64_t verify_hours = 24;
    std::int64_t reset_minutes = 60;
    std::int64_t password_memory_mib = 64;
    std::int64_t password_passes = 2;
    std::int64_t hash_threads = 0;
    std::int64_t hash_queue = 32;
    std::int64_t log_ins = 10;
    std::int64_t log_ins_from_one_place = 100;
    std::int64_t log_in_minutes = 15;
    std::int64_t sign_ups_from_one_place = 200;
    std::int64_t sign_up_mails = 5;
    std::int64_t mail_requests_from_one_place = 60;
    std::int64_t sign_up_minutes = 60;
};
SVC_SHARED_RECORD(
    Settings,
    (sign_up,
     "Who may have a new account: `open` everybody, `invited` whoever has an invitation or was "
     "added to a workspace, `off` nobody but by `workboard user add`.",
     defaulted),
    (session_days, "A session that is not used for so long ends.", range(1, 3650), defaulted),
    (session_most_days, "A session ends then, used or not.", range(1, 3650), defaulted),
    (verify_hours, "How long the link in a sign-up mail works.", range(1, 720), defaulted),
    (reset_minutes, "How long the link to a new password works.", range(1, 1440), defaulted),
    (password_memory_mib,
     "Memory of one argon2id hash: more makes guessing dearer.",
     range(8, 1024),
     defaulted),
    (password_passes, "Passes of argon2id over that memory.", range(1, 20), defaulted),
    (hash_threads,
     "Passwords hashed at once, at the lowest priority; 0: by half of the processors.",
     range(0, 64),
     defaulted),
    (hash_queue, "Passwords that may wait to be hashed; beyond it 503.", range(1, 10000), defaulted
    ),
    (log_ins,
     "Wrong log-ins with one address from one place within `log_in_minutes`, then 429; also wrong "
     "guesses at one's present password.",
     range(1, 10000),
     defaulted),
    (log_ins_from_one_place,
     "Wrong log-ins with any address from one place within `log_in_minutes`; as many sign-ins "
     "with the outside provider may be begun there and not finished.",
     range(1, 1000000),
     defaulted),
    (log_in_minutes, "The window of both.", range(1, 1440), defaulted),
    (sign_ups_from_one_place,
     "Sign-ups from one place within `sign_up_minutes`, then 429.",
     range(1, 1000000),
     defaulted),
    (sign_up_mails,
     "Mails of one sort (sign-up, new link, new password) to one address within "
     "`sign_up_minutes`; further ones are not sent.",
     range(1, 1000),
     defaulted),
    (mail_requests_from_one_place,
     "New links and new passwords asked for from one place within `sign_up_minutes`, then 429.",
     range(1, 1000000),
     defaulted),
    (sign_up_minutes, "The window of all three.", range(1, 1440), defaulted)
);

}  // namespace svc::auth
