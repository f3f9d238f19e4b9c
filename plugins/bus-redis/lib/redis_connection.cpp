#include "plugins/bus-redis/lib/redis_connection.hpp"

namespace svc::bus_redis {

namespace {

constexpr std::size_t most_at_once = 100;

}  // namespace

RedisConnection::RedisConnection(
    const Settings& settings, const Poco::Net::Context::Ptr& context, const std::string& channel
)
    : channel_(channel), subscriber_(settings, context), publisher_(settings, context) {
    subscriber_.ask(command_of({"SUBSCRIBE", channel_}));
}

/// How many got it is read when the next is sent: whether it arrived is seen by its coming back.
void RedisConnection::send(std::string_view message) {
    while (publisher_.next()) {
    }
    publisher_.send(command_of({"PUBLISH", channel_, message}));
}

std::vector<std::string> RedisConnection::receive() {
    std::vector<std::string> out;
    while (out.size() < most_at_once) {
        auto reply = subscriber_.next();
        if (!reply) break;
        auto& words = reply->words;
        if (words.size() == 3 && words[0] == "message") out.push_back(std::move(words[2]));
    }
    return out;
}

}  // namespace svc::bus_redis
