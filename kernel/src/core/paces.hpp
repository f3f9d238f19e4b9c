#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <unordered_map>

/// What is remembered of callers, to tell who holds up the others. None of it for several threads.
namespace svc::core {

using PaceClock = std::chrono::steady_clock;

/// How long the requests of one caller for one operation took of late. Only those that were ever
/// slow are remembered, so that this holds little, and costs the others a look-up.
class Paces {
public:
    using Duration = PaceClock::duration;

    static std::size_t key(std::string_view principal, std::size_t kind);
    /// The last ones took longer than `limit`: one that did, among others, does not count.
    bool slow(std::size_t key, Duration limit) const;
    void note(std::size_t key, Duration took, Duration limit);

private:
    static constexpr std::size_t most_ = 16'384;

    std::unordered_map<std::size_t, Duration> usual_;
};

/// A number over time: its mean, in which what is longer ago counts less.
class Average {
public:
    /// From `now` on the number is `value`.
    void set(double value, PaceClock::time_point now);
    double at(PaceClock::time_point now) const;

private:
    double value_ = 0, mean_ = 0;
    PaceClock::time_point since_{};
};

/// CallerResolver was here last. Two are enough to say whether anybody was but one.
class Recent {
public:
    void note(std::size_t who, PaceClock::time_point now);
    bool anybody_but(std::size_t who, PaceClock::time_point since) const;

private:
    struct Visit {
        std::size_t who = 0;
        PaceClock::time_point at = PaceClock::time_point::min();
    };
    std::array<Visit, 2> visits_;  // the newest first, of different callers
};

}  // namespace svc::core
