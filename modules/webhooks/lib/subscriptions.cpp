#include "modules/webhooks/lib/subscriptions.hpp"

#include <algorithm>

namespace svc::webhooks {

namespace {

constexpr std::string_view changes_begin = "webhook.";
/// It changes nothing, and is for the webhook that it is about, whatever that subscribes to.
constexpr std::string_view test_kind = "webhook.test";

}  // namespace

bool Subscription::takes(const StoredEvent& event) const {
    if (!since || event.position <= *since) return false;
    if (event.kind == test_kind) return event.object_id == id;
    if (board_id && event.board_id != board_id) return false;
    return std::ranges::any_of(filters, [&](const std::string& each) {
        return kind_matches(each, event.kind);
    });
}

void Subscriptions::forget() {
    const std::lock_guard lock(mutex_);
    all_unknown_ = true;
    forgotten_ = ++clock_;
}

bool Subscriptions::wanted(const StoredEvent& event) {
    const std::lock_guard lock(mutex_);
    if (event.kind.starts_with(changes_begin) && event.kind != test_kind) {
        Known& known = of_[event.org_id];
        known.unknown = true;
        known.changed = ++clock_;
    }
    if (all_unknown_) return true;
    const auto found = of_.find(event.org_id);
    if (found == of_.end()) return false;
    return found->second.unknown ||
           std::ranges::any_of(found->second.subscriptions, [&](const Subscription& each) {
               return each.takes(event);
           });
}

Subscriptions::Missing Subscriptions::missing(std::span<const StoredEvent> events) const {
    const std::lock_guard lock(mutex_);
    Missing out{.all = all_unknown_, .orgs = {}, .as_of = clock_};
    if (out.all) return out;
    for (const StoredEvent& each : events) {
        const auto found = of_.find(each.org_id);
        if (found != of_.end() && found->second.unknown) out.orgs.push_back(each.org_id);
    }
    std::ranges::sort(out.orgs);
    const auto repeated = std::ranges::unique(out.orgs);
    out.orgs.erase(repeated.begin(), repeated.end());
    return out;
}

void Subscriptions::learn(const Missing& asked, const Loaded& loaded) {
    const std::lock_guard lock(mutex_);
    if (asked.all) {
        if (forgotten_ > asked.as_of) return;
        all_unknown_ = false;
        std::erase_if(of_, [&](const auto& each) { return each.second.changed <= asked.as_of; });
        for (const auto& [org, subscriptions] : loaded) of_[org].subscriptions = subscriptions;
        return;
    }
    for (const Uuid& org : asked.orgs) {
        const auto known = of_.find(org);
        if (known == of_.end() || known->second.changed > asked.as_of) continue;
        const auto found = loaded.find(org);
        if (found == loaded.end()) of_.erase(known);
        else known->second = {found->second, false, known->second.changed};
    }
}

std::vector<Uuid> Subscriptions::matching(
    const StoredEvent& event, const Missing& asked, const Loaded& loaded
) const {
    const std::lock_guard lock(mutex_);
    const std::vector<Subscription>* all = nullptr;
    if (asked.all || std::ranges::binary_search(asked.orgs, event.org_id)) {
        if (const auto found = loaded.find(event.org_id); found != loaded.end())
            all = &found->second;
    } else if (const auto found = of_.find(event.org_id); found != of_.end()) {
        all = &found->second.subscriptions;
    }
    std::vector<Uuid> out;
    if (!all) return out;
    for (const Subscription& each : *all)
        if (each.takes(event)) out.push_back(each.id);
    return out;
}

}  // namespace svc::webhooks
