#pragma once

#include "svc/types.hpp"

#include <map>
#include <optional>
#include <string>

namespace svc::boards {

/// New ids for things that are copied, and the old ones in texts replaced by them.
class NewIds {
public:
    /// The new one.
    Uuid add(const Uuid& old) { return add(old, new_uuid()); }
    Uuid add(const Uuid& old, const Uuid& now) { return ids_.emplace(old, now).first->second; }
    std::optional<Uuid> find(const Uuid& old) const {
        const auto found = ids_.find(old);
        return found == ids_.end() ? std::nullopt : std::optional(found->second);
    }
    /// Replaces those ids that are whole strings of the JSON `text`; an id is random enough to be
    /// nothing else.
    void put_into(std::string& text) const {
        constexpr std::size_t size = 36;
        for (auto at = text.find('"'); at != text.npos; at = text.find('"', at + 1)) {
            if (at + size + 1 >= text.size() || text[at + size + 1] != '"') continue;
            const auto old = Uuid::parse(std::string_view(text).substr(at + 1, size));
            if (const auto now = old ? find(*old) : std::nullopt)
                text.replace(at + 1, size, now->str());
        }
    }

    /// {old: new}
    std::string as_json() const {
        std::string text = "{";
        for (const auto& [old, now] : ids_)
            text += (text.size() > 1 ? ",\"" : "\"") + old.str() + "\":\"" + now.str() + '"';
        return text + '}';
    }

private:
    std::map<Uuid, Uuid> ids_;
};

}  // namespace svc::boards
