#include "modules/webhooks/lib/bodies.hpp"

namespace svc::webhooks {

Bodies::Body Bodies::find(std::int64_t position) const {
    const auto found = bodies_.find(position);
    return found == bodies_.end() ? nullptr : found->second;
}

void Bodies::add(std::int64_t position, std::string body) {
    const auto size = body.size();
    if (bodies_.emplace(position, std::make_shared<const std::string>(std::move(body))).second)
        bytes_ += size;
}

bool Bodies::make_room() {
    for (auto each = bodies_.begin(); each != bodies_.end() && bytes_ > kept_;) {
        if (each->second.use_count() > 1) {
            ++each;
            continue;
        }
        bytes_ -= each->second->size();
        each = bodies_.erase(each);
    }
    return bytes_ <= most_;
}

}  // namespace svc::webhooks
