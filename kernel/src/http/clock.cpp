#include "http/clock.hpp"

#include <ctime>

namespace svc::http {

std::int64_t now_ms() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

std::string_view http_date() {
    thread_local std::time_t second = -1;
    thread_local char text[32];
    thread_local std::size_t size = 0;
    timespec time{};
    clock_gettime(CLOCK_REALTIME_COARSE, &time);
    if (time.tv_sec != second) {
        std::tm parts{};
        gmtime_r(&time.tv_sec, &parts);
        // Names of days and months are English here whatever the process's locale.
        static constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
        static constexpr const char* months[] = {
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
        char format[32];
        std::strftime(format, sizeof format, "%%s, %d %%s %Y %H:%M:%S GMT", &parts);
        size = static_cast<std::size_t>(
            __builtin_snprintf(text, sizeof text, format, days[parts.tm_wday], months[parts.tm_mon])
        );
        second = time.tv_sec;
    }
    return {text, size};
}

}  // namespace svc::http
