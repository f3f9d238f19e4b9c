#pragma once

#include "modules/lib/slow_work/slow_work.hpp"

namespace svc::auth {

/// The threads that hash passwords.
class HashPool final : public SlowWork {
public:
    static constexpr std::string_view name = "auth.HashPool";
    using SlowWork::SlowWork;
};

}  // namespace svc::auth
