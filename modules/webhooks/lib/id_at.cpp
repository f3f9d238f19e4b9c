#include "modules/webhooks/lib/id_at.hpp"

#include <algorithm>

namespace svc::webhooks {

Uuid first_id_at(Timestamp time) {
    std::array<std::uint8_t, 16> bytes{};
    auto milliseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(time.micros / 1'000, 0));
    for (std::size_t i = 6; i-- > 0; milliseconds >>= 8)
        bytes[i] = static_cast<std::uint8_t>(milliseconds);
    return Uuid(bytes);
}

Uuid last_id() {
    std::array<std::uint8_t, 16> bytes;
    bytes.fill(0xFF);
    return Uuid(bytes);
}

}  // namespace svc::webhooks
