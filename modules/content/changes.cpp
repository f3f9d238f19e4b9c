#include "modules/content/changes.hpp"

namespace svc::content {

namespace {

std::string position_text(const Place& place) {
    std::string text = R"({"type":")" + std::string(name_of(place.type)) + '"';
    if (place.after) text += R"(,"after_block":{"id":")" + place.after->str() + "\"}";
    return text + '}';
}

std::string list_of(const std::set<Uuid>& ids) {
    std::string list;
    for (const Uuid& each : ids) list += (list.empty() ? "[\"" : ",\"") + each.str() + '"';
    return list + ']';
}

}  // namespace

void BlockEvents::add(
    const EventKind& kind, const Uuid& id, std::string changes, std::string previous
) {
    const StoredBlock& row = tree_.block(id);
    Event event;
    event.kind = &kind;
    event.id = id;
    event.version = row.version;
    event.parent_id = row.parent_id;
    event.changes = std::move(changes);
    event.previous = std::move(previous);
    event.subject = to_json(shown(row));
    call_.check(events_.emplace_back(placed(std::move(event), tree_.card())));
}

void BlockEvents::made(const std::vector<Uuid>& ids) {
    if (ids.empty()) return;
    std::string list;
    for (const Uuid& each : ids) {
        list += list.empty() ? '[' : ',';
        list += tree_.shown_with_children(each);
    }
    add(block_created, ids.front(), R"({"blocks":)" + list + "]}", "{}");
}

void BlockEvents::changed(const Uuid& id) {
    const StoredBlock* was = tree_.before(id);
    if (!was) return;
    Event event = svc::changed(block_updated, shown(*was), shown(tree_.block(id)));
    event.parent_id = tree_.block(id).parent_id;
    call_.check(events_.emplace_back(placed(std::move(event), tree_.card())));
}

void BlockEvents::moved(const StoredBlock& was, const Place& place) {
    const Block before = shown(was), after = shown(tree_.block(was.id));
    add(block_updated,
        was.id,
        R"({"parent":)" + to_json(after.parent) + R"(,"position":)" + position_text(place) + '}',
        R"({"parent":)" + to_json(before.parent) + '}');
}

void BlockEvents::moved(const Uuid& id, const Place& place) {
    if (const StoredBlock* was = tree_.before(id)) moved(*was, place);
}

void BlockEvents::changed(const std::vector<Uuid>& ids) {
    if (ids.empty()) return;
    const std::set<Uuid> once(ids.begin(), ids.end());
    add(block_updated, ids.front(), R"({"blocks":)" + list_of(once) + '}', "{}");
}

void BlockEvents::deleted(const std::vector<Uuid>& ids) {
    if (ids.empty()) return;
    const std::set<Uuid> once(ids.begin(), ids.end());
    add(block_deleted,
        ids.front(),
        R"({"in_trash":true,"blocks":)" + list_of(once) + '}',
        R"({"in_trash":false})");
}

void BlockEvents::deleted(const Uuid& id) {
    add(block_deleted, id, R"({"in_trash":true})", R"({"in_trash":false})");
}

void BlockEvents::restored(const Uuid& id) {
    add(block_restored, id, R"({"in_trash":false})", R"({"in_trash":true})");
}

void BlockEvents::emit() {
    for (const Event& each : events_) call_.emit(each);
}

}  // namespace svc::content
