#include "log_ins.hpp"

#include "figure.hpp"

#include <future>

namespace svc::bench {

double log_ins_per_second(std::uint16_t port, double seconds) {
    constexpr int people = 4;
    const auto log_in = request_text(
        "POST",
        "/v1/auth/login",
        {},
        R"({"email":"ada@example.com","password":"correct horse battery"})"
    );
    return press(people, seconds, [&](int) {
        auto presser = std::make_shared<Presser>(port);
        return [presser, &log_in] { presser->ask(log_in); };
    });
}

Beside press_beside(
    Herd& herd, std::chrono::milliseconds pace, std::uint16_t port, double seconds
) {
    auto storm = std::async(std::launch::async, [&] { return log_ins_per_second(port, seconds); });
    Beside beside;
    beside.herd = herd.trot(pace, seconds);
    beside.log_ins = storm.get();
    return beside;
}

double slowest_ms(const Herd::Trot& trot) { return quantile(trot.milliseconds, 0.99); }

}  // namespace svc::bench
