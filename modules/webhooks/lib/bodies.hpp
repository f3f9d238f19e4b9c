#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace svc::webhooks {

/// The events that are being sent, each once however many webhooks get it, and some that were. One
/// thread's; what is handed out may be let go of on any.
class Bodies {
public:
    using Body = std::shared_ptr<const std::string>;

    /// What is kept besides what is being sent, and how much there is at most, in bytes.
    Bodies(std::size_t kept, std::size_t most) : kept_(kept), most_(most) {}

    /// By its position; null when it is not there.
    Body find(std::int64_t position) const;
    void add(std::int64_t position, std::string body);
    /// Forgets what nobody sends any more, the oldest first; whether there is room for more.
    bool make_room();

private:
    const std::size_t kept_, most_;
    std::size_t bytes_ = 0;
    std::map<std::int64_t, Body> bodies_;
};

}  // namespace svc::webhooks
