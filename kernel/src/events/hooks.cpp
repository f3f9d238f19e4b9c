#include "events/hooks.hpp"

#include "svc/failure.hpp"

namespace svc::events {

namespace {

bool is_name(std::string_view text) {
    return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") ==
                                std::string_view::npos;
}

bool is_filter(std::string_view text) {
    if (text == "*") return true;
    const auto dot = text.find('.');
    if (dot == std::string_view::npos) return false;
    const auto verb = text.substr(dot + 1);
    return is_name(text.substr(0, dot)) && (verb == "*" || is_name(verb));
}

}  // namespace

void Hooks::add(std::string filter, BeforeHook hook) {
    if (!is_filter(filter))
        throw std::logic_error("not a kind of event, `noun.*` or `*`: " + filter);
    hooks_.emplace_back(std::move(filter), std::move(hook));
}

void Hooks::ask(Call& call, const Event& event) const {
    for (const auto& [filter, hook] : hooks_) {
        if (!kind_matches(filter, event.kind->name)) continue;
        if (Verdict verdict = hook(call, event))
            throw Failure(Fault::conflict, verdict->message).with_code(std::move(verdict->code));
    }
}

}  // namespace svc::events
