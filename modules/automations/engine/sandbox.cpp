#include "modules/automations/engine/sandbox.hpp"

#include "modules/automations/engine/child.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace svc::automations {

namespace {

using Clock = Child::Clock;

constexpr std::size_t longest_message = (1 << 20) + (64 << 10);  // bytes, and some for its frame
constexpr std::size_t most_logs = 200;

std::string_view name_of_mode(Mode mode) {
    constexpr std::string_view names[] = {"load", "before", "after"};
    return names[static_cast<std::size_t>(mode)];
}

/// The message of docs/automations.md that starts the work.
std::string order_for(const Job& job) {
    std::string order = R"({"mode":)";
    write_text(name_of_mode(job.mode), order);
    order += R"(,"name":)";
    write_text(job.name, order);
    order += R"(,"source":)";
    write_text(job.source, order);
    if (!job.event.empty()) (order += R"(,"event":)") += job.event;
    return order += "}\n";
}

/// Text from the sandbox, which is not trusted, as a database takes it.
std::string plain(const json::value* value) {
    if (!value || !value->is_string()) return {};
    std::string text(value->get_string());
    std::ranges::replace(text, '\0', '?');
    return text;
}

std::int64_t number(const json::value* value) {
    return value && value->is_int64() ? value->get_int64() : 0;
}

/// A run and the conversation that it is.
class SandboxSession {
public:
    SandboxSession(const std::filesystem::path& program, const Limits& limits, const Serve& serve)
        : limits_(limits),
          serve_(serve),
          child_(
              program,
              {std::to_string(limits.memory),
               std::to_string(limits.instructions),
               std::to_string(limits.own_time / std::chrono::seconds(1) + 1)}
          ) {}

    Ended hold(const Job& job) {
        const auto started = Clock::now();
        end_by_ = started + limits_.whole_time;
        own_limit_ = job.own_time_left.value_or(limits_.own_time);
        talk(job);
        ended_.took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - started);
        if (!ended_.error.empty() && ended_.error.find(job.name) == std::string::npos)
            ended_.error = std::string(job.name) + ": " + ended_.error;
        return std::move(ended_);
    }

private:
    void talk(const Job& job) {
        if (!on_time([&](auto until) { return child_.send(order_for(job), until); })) return;
        for (std::string line; !done_;) {
            const auto receive = [&](auto until) {
                return child_.receive(line, longest_message, until);
            };
            if (!on_time(receive)) return;
            bytes_ += line.size();
            if (bytes_ > limits_.bytes) return fail("said too much");
            if (!understand(line)) return fail("ended in a way that no script can");
        }
    }

    /// Talks on the script's own time; false when the run is over by it.
    template <class Step>
    bool on_time(Step step) {
        const auto start = Clock::now();
        const auto talk = step(std::min(end_by_, start + own_limit_ - own_time_));
        own_time_ += Clock::now() - start;
        if (talk == Child::Talk::fine) return true;
        if (talk == Child::Talk::late) fail("took longer than " + time_allowed());
        else fail("was ended for what it tried");
        return false;
    }

    std::string time_allowed() const {
        const std::string all = std::to_string(limits_.own_time.count()) + " ms";
        if (own_limit_ == limits_.own_time) return all;
        return "the " + std::to_string(own_limit_.count()) + " ms that were left of " + all;
    }

    void fail(std::string why) { ended_.error = std::move(why); }

    /// False when it is not a message.
    bool understand(const std::string& line) {
        json::error_code bad;
        json::parse_options options;
        options.max_depth = 128;
        const json::value message = json::parse(line, bad, {}, options);
        if (bad || !message.is_object()) return false;
        const json::object& parts = message.get_object();
        if (const json::value* text = parts.if_contains("log")) return log(*text);
        if (const json::value* name = parts.if_contains("call")) return call(*name, parts);
        if (const json::value* done = parts.if_contains("done"))
            return done->is_object() && finish(done->get_object());
        return false;
    }

    bool log(const json::value& text) {
        if (ended_.log.size() < most_logs) ended_.log.push_back(plain(&text));
        return true;
    }

    bool call(const json::value& name, const json::object& parts) {
        const json::value* arguments = parts.if_contains("arguments");
        if (!name.is_string() || !arguments || !arguments->is_object()) return false;
        if (++calls_ > limits_.calls) {
            fail("called more than " + std::to_string(limits_.calls) + " operations");
            return done_ = true;
        }
        const Reply reply =
            serve_ ? serve_({plain(&name), json::serialize(*arguments)}) : Reply{404, {}};
        std::string answer = R"({"status":)" + std::to_string(reply.status);
        if (!reply.body.empty()) (answer += R"(,"body":)") += reply.body;
        answer += "}\n";
        if (!on_time([&](auto until) { return child_.send(answer, until); })) done_ = true;
        return true;
    }

    bool finish(const json::object& done) {
        done_ = true;
        ended_.error = plain(done.if_contains("error"));
        ended_.instructions = number(done.if_contains("instructions"));
        ended_.memory_peak_bytes = number(done.if_contains("memory_peak_bytes"));
        if (const json::value* refusal = done.if_contains("refusal");
            refusal && refusal->is_object())
            ended_.refusal = Refusal{
                plain(refusal->get_object().if_contains("code")),
                plain(refusal->get_object().if_contains("message"))};
        const json::value* binds = done.if_contains("binds");
        if (!binds) return true;
        if (!binds->is_array()) return false;
        for (const json::value& each : binds->get_array()) {
            if (!each.is_object()) return false;
            ended_.binds.push_back(
                {plain(each.get_object().if_contains("when")),
                 plain(each.get_object().if_contains("event")),
                 number(each.get_object().if_contains("line"))}
            );
        }
        return true;
    }

    const Limits& limits_;
    const Serve& serve_;
    Child child_;
    Ended ended_;
    Clock::time_point end_by_{};
    Clock::duration own_time_{};  // so far
    std::chrono::milliseconds own_limit_{};
    std::size_t bytes_ = 0;
    int calls_ = 0;
    bool done_ = false;
};

}  // namespace

Sandbox::Sandbox(std::filesystem::path program, Limits limits)
    : program_(std::move(program)), limits_(limits) {}

Ended Sandbox::run(const Job& job, const Serve& serve) const {
    return SandboxSession(program_, limits_, serve).hold(job);
}

std::filesystem::path Sandbox::program_near(const std::filesystem::path& share) {
    constexpr const char* name = "workboard-sandbox";
    const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
    for (const auto& place : {beside, share / "bin" / name})
        if (std::filesystem::exists(place)) return place;
    throw std::runtime_error("the program " + beside.string() + " is missing");
}

}  // namespace svc::automations
