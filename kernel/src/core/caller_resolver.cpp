#include "core/caller_resolver.hpp"

namespace svc::core {

namespace {

Failure nobody() {
    return Failure(
        Fault::unauthorized,
        "Sign in, or send `Authorization: Bearer <token>` with a token that is still good."
    );
}

bool is_unsafe(std::string_view method) {
    return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

}  // namespace

std::optional<Uuid> org_in_header(const http::Request& request, std::optional<Failure>& wrong) {
    const auto header = request.header("x-svc-org");
    auto org = Uuid::parse(header);
    if (!header.empty() && !org)
        wrong =
            Failure::invalid_at(R"(["header","x-svc-org"])", "uuid_parsing", "Should be a UUID");
    return org;
}

CallerResolver::CallerResolver(
    Kernel::Impl& kernel, const http::Request& request, const std::optional<Uuid>& requested_org
)
    : kernel_(kernel) {
    // What was sent on purpose counts before what a browser sends by itself.
    for (const bool ambient : {false, true})
        for (const Authenticator* each : kernel.authenticators) {
            if (each->ambient() != ambient) continue;
            auto credential = each->recognise(request);
            if (!credential) continue;
            authenticator_ = each;
            credential_ = std::move(*credential);
            credential_.requested_org = requested_org;
            caller_ = kernel.identities.find(*each, credential_);
            return;
        }
}

CallerResolver::CallerResolver(Kernel::Impl& kernel, Caller caller)
    : kernel_(kernel), caller_(std::move(caller)), confirmed_(true) {}

void CallerResolver::check_csrf(const http::Request& request) const {
    if (!authenticator_ || !authenticator_->ambient() || !is_unsafe(request.method)) return;
    if (authenticator_->csrf_matches(request, credential_)) return;
    throw Failure(
        Fault::csrf,
        "A write that is signed in by cookie needs the header X-CSRF-Token; "
        "GET /v1/auth/csrf gives the token."
    );
}

void CallerResolver::authenticate() {
    if (!caller_ && !unreachable_ && authenticator_) ask();
    if (!caller_ && !unreachable_) throw nobody();
}

void CallerResolver::require_workspace() const {
    if (unreachable_) throw *unreachable_;
}

void CallerResolver::attach_identity_check(Tx& tx) {
    if (!authenticator_ || (confirmed_ && tx.mode() == Tx::Mode::read)) return;
    auto read = authenticator_->identify(tx, credential_, caller());
    tx.on_answers([this, read = std::move(read)] {
        try {
            settle(read());
        } catch (const Failure& failure) {
            unreachable_ = failure;
            settle(std::nullopt);
        }
    });
}

bool CallerResolver::leaves_to_statement(Tx& tx) const {
    if (!authenticator_ || !authenticator_->confirms_by_epoch() || !caller_ || !caller_->org_id ||
        caller_->past_due)
        return false;
    authenticator_->hold(tx, *caller_);
    return true;
}

void CallerResolver::settle_by_statement(bool holds) {
    if (holds) {
        confirmed_ = true;
        authenticator_->confirmed(*caller_);
        return;
    }
    settle(std::nullopt);
    throw StaleIdentity{};
}

void CallerResolver::confirm() {
    if (confirmed_ || !authenticator_ || still_holds()) return;
    const auto before = caller_;
    ask();
    if (caller_ != before) throw StaleIdentity{};
}

/// Whether what is known is found to hold, by the lesser question.
bool CallerResolver::still_holds() {
    if (!caller_) return false;
    std::optional<Caller> now;
    kernel_.database->transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(caller_->org_id, caller_->user_id);
        try {
            now = authenticator_->identify(tx, credential_, caller())();
        } catch (const Failure& failure) {
            if (failure.fault() != Fault::not_found) throw;
        }
    });
    return confirmed_ = now == caller_;
}

void CallerResolver::confirm_anew() {
    if (authenticator_) confirmed_ = false;
    confirm();
}

/// One round trip of its own.
void CallerResolver::ask() {
    unreachable_.reset();
    kernel_.database->transact(Tx::Mode::read, [&](Tx& tx) {
        try {
            caller_ = authenticator_->identify(tx, credential_, nullptr)();
        } catch (const Failure& failure) {
            if (failure.fault() != Fault::not_found) throw;
            unreachable_ = failure;
            caller_.reset();
        }
    });
    confirmed_ = true;
    if (caller_) kernel_.identities.remember(*authenticator_, credential_, *caller_);
    else kernel_.identities.forget(*authenticator_, credential_);
}

/// The answer that rode along.
void CallerResolver::settle(std::optional<Caller> now) {
    confirmed_ = true;
    if (now == caller_) return;
    caller_ = std::move(now);
    if (caller_) kernel_.identities.remember(*authenticator_, credential_, *caller_);
    else kernel_.identities.forget(*authenticator_, credential_);
    throw StaleIdentity{};
}

}  // namespace svc::core
