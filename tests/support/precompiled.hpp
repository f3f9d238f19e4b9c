#pragma once

// What many tests include; SVC_PCH=OFF builds without. A file takes from it only what it uses.
// Nothing of the project's own that changes often: a changed public header of the kernel compiles
// most tests again in any case.
#include "modules/lib/precompiled.hpp"
#include "tests/support/client.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/program.hpp"
#include "tests/support/server.hpp"
#include "tests/support/workspace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>
