#pragma once

// What nearly every test includes and what costs the most to compile; SVC_PCH=OFF builds without.
// Nothing of the project's own that changes often.
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
