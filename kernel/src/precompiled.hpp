#pragma once

// What many of the kernel's files include; SVC_PCH=OFF builds without. A file takes from it only
// what it uses, so what few include may be here; what changes often may not, as all files depend on
// it.
#include "db/database.hpp"
#include "svc/jobs.hpp"
#include "svc/kernel.hpp"
#include "svc/operator/upkeep.hpp"
#include "svc/tx.hpp"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>
