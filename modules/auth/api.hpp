#pragma once

#include "modules/auth/preferences.hpp"
#include "svc/call.hpp"

#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

/// What auth offers to other modules that let callers in.
namespace svc::auth {

/// Who was seen since the last look. Requests note it in passing and a job writes it down, so
/// that no request waits for such a write and no row is written more often than the job runs.
/// Any thread.
template <class Who>
class LastSeen {
public:
    void note(const Who& who) {
        std::lock_guard lock(mutex_);
        seen_.insert(who);
    }
    std::vector<Who> take() {
        std::set<Who> taken;
        {
            std::lock_guard lock(mutex_);
            taken.swap(seen_);
        }
        return {taken.begin(), taken.end()};
    }

private:
    std::mutex mutex_;
    std::set<Who> seen_;
};

/// What a person is sent to an identity provider with.
struct ProviderQuestion {
    std::string redirect_uri;    ///< where the provider sends the browser back to
    std::string state;           ///< comes back unchanged
    std::string nonce;           ///< comes back in the ID token
    std::string code_challenge;  ///< of PKCE, S256
};

/// What the browser came back with.
struct ProviderAnswer {
    std::string redirect_uri;  ///< the same as in the question
    std::string code;
    std::string nonce;                    ///< the question's
    std::string code_verifier;            ///< what the question's challenge was made of
    std::optional<std::string> issuer{};  ///< the query's `iss`, if it has one
};

/// Who the provider says it is. The pair of issuer and subject is the identity; the rest are
/// properties that may change.
struct Identity {
    std::string issuer, subject;
    std::optional<Email> email{};
    bool email_verified = false;
    std::optional<std::string> name{};
};

/// Thrown by a provider.
class [[gnu::visibility("default")]] ProviderError : public std::runtime_error {
public:
    enum class Kind {
        provider,  ///< it cannot be reached, or makes no sense
        exchange,  ///< it gave nothing for the code, or an ID token that does not hold
    };
    ProviderError(Kind kind, const std::string& why) : std::runtime_error(why), kind_(kind) {}
    Kind kind() const { return kind_; }

private:
    Kind kind_;
};

/// The port: who vouches for people besides their passwords. A plugin offers one when it is set
/// up. Its members may wait for the network, half a minute at most; any thread.
class IdentityProvider {
public:
    static constexpr std::string_view name = "auth.IdentityProvider";
    virtual ~IdentityProvider() = default;

    /// The page at the provider's where a person signs in.
    virtual std::string sign_in_page(const ProviderQuestion& question) = 0;
    /// Who has come back, once everything that the provider says has been checked.
    virtual Identity identify(const ProviderAnswer& answer) = 0;
};

/// Passwords of things other than accounts, hashed, checked and guarded against guessing as those
/// of accounts are. Offered by auth.
///
/// Both functions take tens of milliseconds of processor time, on a thread of auth's own; the
/// request holds no worker meanwhile, and its handler is then run again from the start. So call one
/// of them, once, before anything else is done. Failure 503 when too many are waiting.
class PasswordService {
public:
    static constexpr std::string_view name = "auth.PasswordService";
    virtual ~PasswordService() = default;

    /// The hash to keep, with its salt and cost.
    virtual std::string hash(Call& call, const std::string& password) = 0;

    struct Guess {
        std::string_view what;  ///< sort of thing, with static storage: "share_link"
        std::string subject;    ///< which one
        std::string password;   ///< as it was given
        std::string hash;       ///< as it was kept
    };
    /// Whether the guess is right. Wrong ones are counted, for each subject from one place and from
    /// anywhere, like wrong log-ins: Failure 429.
    virtual bool matches(Call& call, const Guess& guess) = 0;
};

/// What people chose, for modules that change it on their behalf. Offered by auth.
class PreferenceChanges {
public:
    static constexpr std::string_view name = "auth.PreferenceChanges";
    virtual ~PreferenceChanges() = default;

    /// Changes what the person chose, as `edit` does, in a transaction that acts for them. False
    /// when there is no such person.
    virtual bool change(
        Tx& tx, const Uuid& person, const std::function<void(Preferences&)>& edit
    ) = 0;
};

/// The port: who goes by what people chose, and has to hear of a change.
class PreferencesWatcher {
public:
    static constexpr std::string_view name = "auth.PreferencesWatcher";
    virtual ~PreferencesWatcher() = default;

    /// Queues what follows from it, in the transaction of the change, which acts for the person.
    virtual void changed(Tx& tx, const Uuid& person, const Preferences& chosen) = 0;
};

/// The port: pictures that people upload for their profiles. Offered by whoever keeps files;
/// without one no picture can be chosen.
class Pictures {
public:
    static constexpr std::string_view name = "auth.Pictures";
    virtual ~Pictures() = default;

    /// The lasting public address of a picture that the call's person has uploaded; nothing when
    /// there is none of that id.
    virtual std::optional<Url> address_of(Call& call, const Uuid& file) = 0;
};

}  // namespace svc::auth
