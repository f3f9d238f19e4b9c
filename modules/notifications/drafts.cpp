#include "modules/notifications/drafts.hpp"

#include <algorithm>

namespace svc::notifications {

namespace {

/// Takes out of `from` whoever is in `taken`, and adds the rest to it.
std::vector<Uuid> not_yet(std::set<Uuid>& taken, const std::vector<Uuid>& from) {
    std::vector<Uuid> out;
    for (const Uuid& each : from)
        if (taken.insert(each).second) out.push_back(each);
    return out;
}

class Drafting {
public:
    explicit Drafting(const Facts& facts) : facts_(facts) {
        // Never about one's own doing.
        if (!facts.actor.id.nil()) taken_.insert(facts.actor.id);
    }

    std::vector<Draft> drafts() {
        if (facts_.org_name.empty() || facts_.is_gone) return {};
        if (facts_.card) of_card();
        else if (!facts_.event.card_id) of_workspace();
        return std::move(drafts_);
    }

private:
    const std::string& kind() const { return facts_.event.kind; }
    std::string by() const { return facts_.by(); }

    // ------------------------------------------------------------------------------- cards

    void of_card() {
        const CardFacts& card = *facts_.card;
        if (kind() == "comment.created" || kind() == "comment.updated") of_comment(card);
        else if (kind() == "block.created" || kind() == "block.updated") of_mentions(card);
        else if (kind() == "card.created" || kind() == "card.assigned") of_assignees(card);
        else if (kind() == "card.moved") of_move(card);
        else if (kind() == "card.due") of_due(card);
        else if (kind() == "lease.failed")
            add(on_card(NotificationKind::lease_failed, by() + " failed on " + card.name()),
                followers(card),
                facts_.text("error"));
        else if (kind() == "lease.expired")
            add(on_card(
                    NotificationKind::lease_expired,
                    "A worker let its lease on " + card.name() + " run out"
                ),
                followers(card));
        else if (kind() == "card.exhausted")
            add(on_card(NotificationKind::exhausted, card.name() + " has used up its attempts"),
                followers_or_author(card),
                "Nobody is given it before somebody requeues it.");
    }

    void of_comment(const CardFacts& card) {
        of_mentions(card);
        if (kind() != "comment.created") return;
        const auto* text = facts_.changes.if_contains("rich_text");
        add(on_card(NotificationKind::comment, by() + " commented on " + card.name()),
            followers(card),
            text ? plain_text(*text) : "");
    }

    /// Those whom the same text mentions first are told the same.
    void of_mentions(const CardFacts& card) {
        std::map<std::pair<Mention, std::size_t>, std::vector<Uuid>> by_mention;
        for (const auto& [person, mentions] : facts_.mentions)
            by_mention[{mentions.front(), mentions.size()}].push_back(person);
        for (const auto& [mention, people] : by_mention) {
            Draft draft =
                on_card(NotificationKind::mention, by() + " mentioned you in " + card.name());
            draft.target = mention.first.block.value_or(draft.target);
            draft.count = static_cast<std::int64_t>(mention.second);
            add(std::move(draft), people, mention.first.text);
        }
    }

    void of_assignees(const CardFacts& card) {
        const auto before = ids_in(facts_.previous);
        std::vector<Uuid> others;
        for (const Uuid& each : ids_in(facts_.changes))
            if (std::ranges::find(before, each) == before.end()) others.push_back(each);
        add(on_card(NotificationKind::assigned, by() + " assigned " + card.name() + " to you"),
            others);
    }

    static std::vector<Uuid> ids_in(const json::object& changes) {
        std::vector<Uuid> out;
        const auto* list = changes.if_contains("assignees");
        if (!list || !list->is_array()) return out;
        for (const json::value& each : list->get_array()) {
            if (!each.is_object()) continue;
            if (const auto id = Uuid::parse(text_in(each.get_object(), "id"))) out.push_back(*id);
        }
        return out;
    }

    void of_move(const CardFacts& card) {
        const auto from = object_in(facts_.data, "from"), to = object_in(facts_.data, "to");
        if (text_in(from, "column_id") == text_in(to, "column_id")) return;
        add(on_card(
                NotificationKind::moved,
                by() + " moved " + card.name() + " to " + text_in(to, "name")
            ),
            followers(card),
            "It was in " + text_in(from, "name") + ".");
    }

    void of_due(const CardFacts& card) {
        add(on_card(NotificationKind::due, card.name() + " is due on " + due_text()),
            card.assignees.empty() ? author_of(card) : card.assignees);
    }
    /// A day, or an instant as people read it.
    std::string due_text() const {
        const std::string due = facts_.text("due");
        return due.size() <= 10 ? due : due.substr(0, 10) + " at " + due.substr(11, 5) + " UTC";
    }

    static std::vector<Uuid> followers(const CardFacts& card) {
        std::vector<Uuid> all = card.assignees;
        all.insert(all.end(), card.watchers.begin(), card.watchers.end());
        return all;
    }
    static std::vector<Uuid> followers_or_author(const CardFacts& card) {
        auto all = followers(card);
        return all.empty() ? author_of(card) : all;
    }
    static std::vector<Uuid> author_of(const CardFacts& card) {
        const PrincipalRef author = card.author.parsed();
        return author.id.nil() ? std::vector<Uuid>() : std::vector{author.id};
    }

    // -------------------------------------------------------------------------- workspaces

    void of_workspace() {
        const std::string_view noun = std::string_view(kind()).substr(0, kind().find('.'));
        if (noun == "invitation") of_invitation();
        else if (noun == "member") of_membership();
        else if (noun == "agent") of_agent();
        else if (noun == "webhook") of_webhook();
        else if (noun == "automation") of_automation();
        else if (kind() == "org.billing_changed") of_billing();
    }

    void of_invitation() {
        if (!facts_.invited) return;
        Draft draft = about(
            NotificationKind::invitation,
            by() + " invited you to " + facts_.org_name,
            "invitation",
            facts_.event.object_id
        );
        draft.is_personal = true;
        draft.expires_at = Timestamp::parse(facts_.text("expires_at"));
        add(std::move(draft), {*facts_.invited}, facts_.text("message"));
    }

    void of_membership() {
        if (!facts_.member) return;
        const std::string role = facts_.text("role");
        const std::string as = (role == "admin" || role == "owner" ? "an " : "a ") + role;
        const bool is_new = kind() == "member.added";
        add(about(
                NotificationKind::membership,
                is_new ? by() + " added you to " + facts_.org_name + " as " + as
                       : by() + " made you " + as + " of " + facts_.org_name,
                "organization",
                facts_.event.org_id
            ),
            {*facts_.member});
    }

    void of_agent() {
        if (!facts_.agent) return;
        const std::string agent = "agent " + facts_.agent->name.value_or("without a name");
        Draft draft = about(
            NotificationKind::agent_disabled,
            kind() == "agent.disabled" ? by() + " disabled the " + agent
                                       : "The " + agent + " has used up its budget",
            "agent",
            facts_.event.object_id
        );
        const std::string why = facts_.text("disabled_reason");
        add(draft, {facts_.agent->owner_user_id}, why);
        draft.least_role = "admin";
        add(std::move(draft), facts_.admins, why);
    }

    void of_webhook() {
        const auto name = name_of_subject();
        Draft draft = about(
            NotificationKind::webhook_disabled,
            "The webhook " + name + " was disabled",
            "webhook",
            facts_.event.object_id
        );
        draft.least_role = "admin";
        add(std::move(draft), facts_.admins, facts_.text("disabled_reason"));
    }

    /// Runs of one automation are one matter, and so is what comes of them.
    void of_automation() {
        const bool disabled = kind() == "automation.disabled";
        Draft draft = about(
            NotificationKind::automation_failed,
            "The automation " + name_of_subject() + (disabled ? " was disabled" : " failed"),
            "automation",
            Uuid::parse(facts_.text("automation_id")).value_or(facts_.event.object_id)
        );
        draft.least_role = "admin";
        draft.mailed_once = !disabled;
        add(std::move(draft), facts_.admins, facts_.text(disabled ? "disabled_reason" : "error"));
    }

    void of_billing() {
        const std::string state = facts_.text("billing_state"), plan = facts_.text("plan");
        std::string title = "The bill of " + facts_.org_name + " has changed";
        if (state == "past_due") title = "The bill of " + facts_.org_name + " is past due";
        else if (!state.empty()) title = "The bill of " + facts_.org_name + " is now " + state;
        else if (!plan.empty()) title = facts_.org_name + " is on the plan " + plan + " now";
        Draft draft =
            about(NotificationKind::billing, std::move(title), "organization", facts_.event.org_id);
        draft.least_role = "owner";
        add(std::move(draft), facts_.owners);
    }

    std::string name_of_subject() const {
        return facts_.name.value_or(facts_.event.object_id.str());
    }

    // ------------------------------------------------------------------------------ making

    Draft on_card(NotificationKind kind, std::string title) const {
        const std::string& object = facts_.event.object;
        const bool is_part = object == "comment" || object == "block";
        Draft draft = about(
            kind,
            std::move(title),
            is_part ? object : "card",
            is_part ? facts_.event.object_id : *facts_.event.card_id
        );
        draft.board = facts_.card->board_id;
        draft.card = facts_.event.card_id;
        draft.subject = *facts_.event.card_id;
        return draft;
    }

    Draft about(
        NotificationKind kind, std::string title, std::string target_type, const Uuid& target
    ) const {
        Draft draft;
        draft.org = facts_.event.org_id;
        draft.kind = kind;
        draft.title = one_line(title, longest_title);
        draft.subject = target;
        draft.target_type = std::move(target_type);
        draft.target = target;
        draft.event = facts_.event.event_id;
        if (!facts_.actor.id.nil())
            draft.actor =
                PrincipalRef{{}, facts_.actor.id, facts_.actor.principal_type, facts_.actor.name};
        return draft;
    }

    void add(Draft draft, const std::vector<Uuid>& to, const std::string& body = {}) {
        draft.to = not_yet(taken_, to);
        draft.body = beginning(body, longest_body);
        if (!draft.to.empty()) drafts_.push_back(std::move(draft));
    }

    const Facts& facts_;
    std::set<Uuid> taken_;
    std::vector<Draft> drafts_;
};

}  // namespace

std::vector<Draft> drafts_of(const Facts& facts) { return Drafting(facts).drafts(); }

Undoing undoing_of(const Facts& facts) {
    using What = Undoing::What;
    const StoredEvent& event = facts.event;
    if (event.kind == "card.deleted" && event.card_id) return {What::card, *event.card_id};
    if (event.kind == "comment.deleted") return {What::comment, event.object_id};
    if (event.kind == "block.deleted" && event.card_id) return {What::blocks, *event.card_id};
    if (event.kind == "member.removed")
        if (const auto person = Uuid::parse(text_in(facts.previous, "user_id")))
            return {What::person, *person};
    if (event.kind == "agent.deleted") return {What::person, event.object_id};
    for (const char* each : {"invitation.accepted", "invitation.declined", "invitation.revoked"})
        if (event.kind == each) return {What::invitation, event.object_id};
    return {};
}

}  // namespace svc::notifications
