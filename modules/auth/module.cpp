#include "svc/module.hpp"

#include "modules/auth/accounts.hpp"
#include "modules/auth/admission.hpp"
#include "modules/auth/hash_pool.hpp"
#include "modules/auth/lib/passwords.hpp"
#include "modules/auth/oauth.hpp"
#include "modules/auth/password_service.hpp"
#include "modules/auth/sessions.hpp"
#include "modules/auth/settings.hpp"
#include "modules/auth/sign_up_links.hpp"
#include "modules/auth/user_command.hpp"
#include "modules/auth/users.hpp"
#include "svc/workspace_jobs.hpp"

#include <Poco/Crypto/OpenSSLInitializer.h>

#include <algorithm>
#include <thread>

namespace svc::auth {

namespace {

/// What is left of the processors is for everybody else, however many log in.
std::size_t hash_threads(const Settings& settings) {
    if (settings.hash_threads > 0) return static_cast<std::size_t>(settings.hash_threads);
    return std::max(1U, std::thread::hardware_concurrency() / 2);
}

class Auth final : public Module {
public:
    void open(Kernel& kernel) override {
        settings_ = kernel.settings<Settings>();
        passwords_.emplace(settings_.password_memory_mib, settings_.password_passes);
        hash_pool_.emplace(kernel, hash_threads(settings_), settings_.hash_queue);
        sessions_.emplace(kernel);
        outside_.emplace(kernel);
        kernel.offer(settings_);
        kernel.offer(*passwords_);
        kernel.offer(*hash_pool_);
        kernel.offer(*outside_);
        kernel.offer<PasswordService>(keeper_);
        kernel.offer<PreferenceChanges>(preferences_.emplace(kernel));
        kernel.offer<orgs::ActiveWorkspace>(workspace_);
        kernel.offer<orgs::SignUpLinks>(links_);
        kernel.add(*sessions_);

        kernel.tag("account", "Your account: signing up and in, who you are, your sessions.");
        add_sign_in_options(kernel);
        add_sign_up_operations(kernel);
        add_log_in_operations(kernel);
        add_oauth_operations(kernel);
        add_password_operations(kernel);
        add_password_reset_operations(kernel);
        add_resend_operation(kernel);
        add_session_operations(kernel);
        add_user_operations(kernel);
        add_profile_operations(kernel);
        add_preferences_operations(kernel);
        add_user_command(kernel);

        using namespace std::chrono_literals;
        kernel.every("auth.last_seen", 30s, [this] { sessions_->write_last_seen(); });
        add_recurring_job(kernel, "auth.sweep", 10min, [&kernel] {
            kernel.transact(Tx::Mode::write, [](Tx& tx) {
                tx.set_scope_to_all_orgs();
                sweep_sessions(tx);
                sweep_sign_ups(tx);
                sweep_resets(tx);
            });
        });
        kernel.add_metric("auth_hashes_total", "Passwords that were hashed or compared.", [this] {
            return static_cast<double>(hash_pool_->done());
        });
        kernel.add_metric("auth_hashes_waiting", "Passwords that wait to be hashed.", [this] {
            return static_cast<double>(hash_pool_->waiting());
        });
    }

    void stop() noexcept override {
        outside_->waiting().finish();  // its threads call a plugin, which is gone before us
        try {
            sessions_->write_last_seen();
        } catch (const std::exception&) {
            // They were seen all the same; only the time of it is lost.
        }
    }

private:
    /// Poco counts who signs or verifies, and takes the locks of OpenSSL down when nobody does:
    /// two threads that read a cookie at once would free the same memory. So somebody always does.
    const Poco::Crypto::OpenSSLInitializer always_somebody_;
    Settings settings_;
    std::optional<Passwords> passwords_;
    std::optional<HashPool> hash_pool_;
    std::optional<OutsideSignIn> outside_;
    std::optional<SessionAuthenticator> sessions_;
    SessionWorkspace workspace_;
    MailedLinks links_;
    PasswordServiceImpl keeper_;
    std::optional<PreferencesOfPeople> preferences_;
};

}  // namespace

}  // namespace svc::auth

SVC_MODULE(svc::auth::Auth, "auth", "orgs", "mail");
