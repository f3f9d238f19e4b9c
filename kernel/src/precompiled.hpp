#pragma once

// What most of the kernel's files include; SVC_PCH=OFF builds without. What is here costs every
// file time as well (docs/decisions/0044-every-file-pays-for-what-is-precompiled.md), so what only
// some include, such as Boost.JSON, is not.
#include "svc/instantiated.hpp"
#include "svc/tx.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>
