#include "svc/module.hpp"

#include "modules/orgs/address_keys.hpp"
#include "modules/orgs/deletion.hpp"
#include "modules/orgs/invitations.hpp"
#include "modules/orgs/orgs.hpp"
#include "svc/secrets.hpp"
#include "svc/workspace_jobs.hpp"

namespace svc::orgs {

namespace {

constexpr Sql raise_security_epoch{"orgs.raise_security_epoch", R"(
    UPDATE orgs SET security_epoch = security_epoch + 1 WHERE id = $1)"};

constexpr Sql find_arrears{"orgs.is_past_due", R"(
    SELECT id FROM orgs WHERE id = $1 AND billing_state = 'past_due')"};

constexpr Sql find_by_token{"orgs.find_invitation_by_token", R"(
    SELECT i.id
    FROM invitations i
    WHERE i.email_key = $1 AND i.token_digest = $2 AND i.org_id IS NOT NULL
      AND i.status = 'pending' AND i.expires_at > now())"};

constexpr Sql find_by_address{"orgs.find_invitation_by_address", R"(
    SELECT i.id
    FROM invitations i
    WHERE i.email_key = $1 AND i.org_id IS NOT NULL
      AND i.status = 'pending' AND i.expires_at > now()
    LIMIT 1)"};

// They count as expired from their time on; this frees the index of what is pending.
constexpr Sql close_expired{"orgs.sweep_invitations", R"(
    UPDATE invitations
    SET status = 'expired', last_edited_time = now(), version = version + 1
    WHERE status = 'pending' AND expires_at <= now() AND org_id IS NOT NULL)"};

class Orgs final : public Module, public Directory, public Invitations {
public:
    void open(Kernel& kernel) override {
        settings_ = kernel.settings<Settings>();
        kernel.tag("workspace", "Workspaces: who is in them, and what they may do there.");
        add_org_operations(kernel);
        add_org_changes(kernel);
        add_switch_operation(kernel);
        add_member_operations(kernel);
        add_direct_additions(kernel);
        add_invitation_operations(kernel);
        add_my_invitation_operations(kernel);
        add_invitation_preview(kernel);
        add_billing_operations(kernel);
        add_audit_operations(kernel);
        add_user_operations(kernel);
        kernel.add(org_command(kernel));
        kernel.offer(settings_);
        kernel.offer(previews_);
        kernel.offer<Directory>(*this);
        kernel.offer<Invitations>(*this);
        kernel.use<Jobs>().add(deletion_job(kernel));
        add_recurring_job(kernel, "orgs.sweep_invitations", std::chrono::minutes(10), [this] {
            sweep();
        });
        kernel_ = &kernel;
    }

    void start() override {
        renew_address_keys(*kernel_);
        sweep();
    }

    void bump_security_epoch(Tx& tx, const Uuid& org) override {
        tx.queue(raise_security_epoch, org);
    }

    bool past_due(Tx& tx, const Uuid& org) const override {
        return tx.queue(find_arrears, org).rows() > 0;
    }

    std::function<bool()> proves(Tx& tx, std::string_view token, const Email& email)
        const override {
        auto found = tx.queue(find_by_token, email_key(email), sha256(token));
        return [found]() mutable { return found.rows() > 0; };
    }

    std::function<bool()> awaits(Tx& tx, const Email& email) const override {
        auto found = tx.queue(find_by_address, email_key(email));
        return [found]() mutable { return found.rows() > 0; };
    }

private:
    void sweep() {
        kernel_->transact(Tx::Mode::write, [](Tx& tx) {
            tx.set_scope_to_all_orgs();
            tx.queue(close_expired);
        });
    }

    Kernel* kernel_ = nullptr;
    Settings settings_;
    Previews previews_;
};

}  // namespace

}  // namespace svc::orgs

SVC_MODULE(svc::orgs::Orgs, "orgs", "mail");
