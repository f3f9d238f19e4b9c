#include "modules/live/personal.hpp"

namespace svc::live {

namespace {

template <class Each>
void for_each_reader_in(Hub& hub, const Uuid& org, Each each) {
    if (const auto feed = hub.find(org)) feed->go_round(each);
}

}  // namespace

std::set<Uuid> Personal::workspaces() {
    std::set<Uuid> all;
    hub_.for_each_feed([&](Feed& feed) { all.insert(feed.org()); });
    return all;
}

std::set<Uuid> Personal::readers_in(const Uuid& org) {
    std::set<Uuid> out;
    for_each_reader_in(hub_, org, [&](auto& each) {
        out.insert(each.viewer().caller().principal);
    });
    return out;
}

void Personal::tell(
    const Uuid& org, std::string_view type, const std::map<Uuid, std::string>& members
) {
    for_each_reader_in(hub_, org, [&](auto& each) {
        const auto found = members.find(each.viewer().caller().principal);
        if (found != members.end()) each.tell_personally(type, found->second);
    });
}

}  // namespace svc::live
