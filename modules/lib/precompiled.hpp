#pragma once

// What the files of modules include of the kernel, and what many of them use besides; SVC_PCH=OFF
// builds without.
#include "svc/actor.hpp"
#include "svc/jobs.hpp"
#include "svc/module.hpp"
#include "svc/moment.hpp"
#include "svc/order_key.hpp"
#include "svc/rate_limit.hpp"
#include "svc/workspace_jobs.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
