#pragma once

#include "svc/record.hpp"

#include <string>
#include <vector>

namespace svc::oauth {

// g++ 12 cannot count the members of an aggregate whose initialisers hold lists.
inline std::vector<std::string> usual_schemes() {
    return {"cursor", "vscode", "vscode-insiders", "windsurf"};
}

struct Settings {
    static constexpr std::string_view name = "oauth.Settings";  ///< offered to the operations

    std::int64_t access_minutes = 60;
    std::int64_t connection_days = 90;
    std::int64_t code_seconds = 60;
    std::int64_t refresh_leeway_seconds = 30;
    bool registration = true;
    std::int64_t registrations_from_one_place = 20;
    std::int64_t registrations_a_day = 5'000;
    std::int64_t unused_registration_days = 7;
    bool client_documents = true;
    bool allow_private_targets = false;
    std::string ca_file;
    std::vector<std::string> redirect_schemes = usual_schemes();
};
SVC_SHARED_RECORD(
    Settings,
    (access_minutes,
     "How long an access token of a connected client is good; then the client refreshes it.",
     range(1, 1'440),
     defaulted),
    (connection_days,
     "A connection over which nothing is refreshed for so long ends.",
     range(1, 3'650),
     defaulted),
    (code_seconds,
     "How long a client may take to exchange the code that it was sent.",
     range(1, 60),
     defaulted),
    (refresh_leeway_seconds,
     "For so long a refresh token that was used gives the same answer again, for clients that "
     "refresh in several requests at once or lost the answer; after that its use ends the "
     "connection. 0: at once.",
     range(0, 300),
     defaulted),
    (registration, "false: clients cannot register themselves.", defaulted),
    (registrations_from_one_place,
     "How many clients may register from one place within an hour, then 429.",
     range(1, 1'000'000),
     defaulted),
    (registrations_a_day,
     "How many clients may register within a day in all, then 429.",
     range(1, 10'000'000),
     defaulted),
    (unused_registration_days,
     "A registered client that nobody has granted anything for so long is forgotten; one that was "
     "granted something, a year after the last time.",
     range(1, 365),
     defaulted),
    (client_documents,
     "false: no client is known by the address of a document that describes it.",
     defaulted),
    (allow_private_targets,
     "true: such documents may be at any address and port, those of this machine and its networks "
     "included. Meant for tests and intranets whose members are trusted with them.",
     defaulted),
    (ca_file,
     "A PEM file with the authorities that may vouch for the servers of such documents; empty: the "
     "system's.",
     defaulted),
    (redirect_schemes,
     "Schemes of programs that codes may be sent to, besides https, http on the loopback, and "
     "schemes with a dot in them.",
     items_up_to(40),
     defaulted)
);

}  // namespace svc::oauth
