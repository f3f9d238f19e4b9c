#include "svc/module.hpp"

#include "plugins/mcp-conformance/fixtures.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <mutex>

/// What the protocol's conformance suites need beside the product, so that they run in full. For
/// tests: it lists tools that do nothing for anybody, and holds what it has asked in memory.
namespace svc::mcp_conformance {

namespace {

std::string list_of(const std::vector<Fixture>& all, bool tools) {
    std::string out;
    for (const Fixture& each : all) {
        json::object listed{{"name", each.name}, {"description", each.description}};
        json::object properties;
        json::array arguments;
        for (const std::string_view name : each.arguments) {
            properties[name] = json::object{{"type", "string"}};
            arguments.push_back(json::object{{"name", name}, {"required", true}});
        }
        if (!tools) listed["arguments"] = arguments;
        else listed["inputSchema"] = json::object{{"type", "object"}, {"properties", properties}};
        (out += out.empty() ? "" : ",") += json::serialize(listed);
    }
    return out;
}

const Fixture* find(const std::vector<Fixture>& all, std::string_view name) {
    const auto found = std::ranges::find(all, name, &Fixture::name);
    return found == all.end() ? nullptr : &*found;
}

std::shared_ptr<const std::string> event_of(const std::string& message) {
    return std::make_shared<const std::string>("event: message\ndata: " + message + "\n\n");
}

std::string answer_with(const std::string& id, std::string_view member, const json::object& what) {
    return R"({"jsonrpc":"2.0","id":)" + id + ",\"" + std::string(member) +
           "\":" + json::serialize(what) + '}';
}

class Fixtures final : public Module, public mcp::Extension {
public:
    void open(Kernel& kernel) override {
        kernel_ = &kernel;
        kernel.offer<mcp::Extension>(*this);
    }

    std::string listed(std::string_view method) const override {
        if (method == "tools/list")
            return list_of(contents(), true) + ',' + list_of(questions(), true) + ',' +
                   list_of(rounds(), true);
        if (method == "prompts/list") return list_of(prompts(), false);
        if (method == "resources/list") return listed_resources();
        return method == "resources/templates/list" ? listed_templates() : std::string();
    }

    std::optional<http::Answer> answer(const mcp::Incoming& in) override {
        if (in.method.empty()) return take_answer(in);
        auto reply = reply_to(in);
        if (!reply) return std::nullopt;
        const std::string id(in.id);
        if (const auto& problem = reply->problem) {
            json::object error{{"code", problem->code}, {"message", problem->message}};
            if (!problem->data.empty()) error["data"] = problem->data;
            return http::Answer{.status = problem->status, .body = answer_with(id, "error", error)};
        }
        if (in.stateless) reply->result.emplace("resultType", "complete");
        if (!reply->streamed && reply->notices.empty() && !reply->question)
            return http::Answer{.body = answer_with(id, "result", reply->result)};
        return stream(in, *std::move(reply));
    }

private:
    /// A call that waits for its client to answer.
    struct Waiting {
        std::shared_ptr<http::Stream> stream;
        std::string id;  ///< of the call
        Uuid caller;
        std::function<json::object(const json::object&)> then;
    };
    /// Lets go of the question when the stream ends.
    class Asker final : public http::StreamUser {
    public:
        Asker(Fixtures& of, std::string question) : fixtures_(of), question_(std::move(question)) {}
        void ended() override { fixtures_.take(question_); }

    private:
        Fixtures& fixtures_;
        const std::string question_;
    };

    std::optional<Reply> reply_to(const mcp::Incoming& in) const {
        const std::string_view name = in.params ? text_in(*in.params, "name") : std::string_view();
        const FixtureCall call{in, *kernel_};
        if (in.method == "tools/call") {
            for (const auto* all : {&contents(), in.stateless ? &rounds() : &questions()})
                if (const Fixture* tool = find(*all, name)) return tool->run(call);
        } else if (in.method == "prompts/get") {
            if (const Fixture* prompt = find(prompts(), name)) return prompt->run(call);
        } else if (in.method == "resources/read") {
            return read_resource(in);
        } else if (!in.stateless && in.params && in.method.starts_with("resources/")) {
            const bool ours = text_in(*in.params, "uri").starts_with("test://");
            if (ours && in.method.ends_with("subscribe")) return Reply{};
        } else if (!in.stateless && in.method == "logging/setLevel") {
            return Reply{};
        }
        return std::nullopt;
    }

    http::Answer stream(const mcp::Incoming& in, Reply reply) {
        in.call.become_stream([this,
                               id = std::string(in.id),
                               caller = in.call.caller()->id,
                               reply = std::move(reply)](std::shared_ptr<http::Stream> stream) {
            for (const json::object& each : reply.notices)
                stream->send(event_of(json::serialize(each)));
            if (reply.question)
                return ask(*reply.question, {stream, id, caller, reply.question->then});
            stream->send(event_of(answer_with(id, "result", reply.result)));
            stream->close();
        });
        return {.headers = {{"Cache-Control", "no-store"}}, .content_type = "text/event-stream"};
    }

    void ask(const Question& question, const Waiting& waiting) {
        const std::string id = new_uuid().str();
        {
            const std::lock_guard lock(mutex_);
            waiting_.emplace(id, waiting);
        }
        waiting.stream->use(std::make_shared<Asker>(*this, id));
        const json::object request{
            {"jsonrpc", "2.0"}, {"id", id}, {"method", question.method}, {"params", question.params}
        };
        waiting.stream->send(event_of(json::serialize(request)));
    }

    std::optional<Waiting> take(std::string_view question) {
        const std::lock_guard lock(mutex_);
        const auto found = waiting_.find(question);
        if (found == waiting_.end()) return std::nullopt;
        auto waiting = std::move(found->second);
        waiting_.erase(found);
        return waiting;
    }

    std::optional<http::Answer> take_answer(const mcp::Incoming& in) {
        const auto waiting = take(text_in(in.message, "id"));
        if (!waiting) return std::nullopt;
        const json::object& said = object_in(in.message, "result");
        if (waiting->caller == in.call.caller()->id)
            waiting->stream->send(event_of(answer_with(waiting->id, "result", waiting->then(said)))
            );
        waiting->stream->close();
        return std::nullopt;
    }

    Kernel* kernel_ = nullptr;
    std::mutex mutex_;
    std::map<std::string, Waiting, std::less<>> waiting_;  // by the question's id
};

}  // namespace

const json::value* FixtureCall::param(std::string_view name) const {
    return in.params ? in.params->if_contains(name) : nullptr;
}

const json::value* FixtureCall::meta(std::string_view name) const {
    const auto* all = param("_meta");
    const auto* members = all ? all->if_object() : nullptr;
    return members ? members->if_contains(name) : nullptr;
}

std::string FixtureCall::argument(std::string_view name) const {
    return in.params ? std::string(text_in(object_in(*in.params, "arguments"), name)) : "";
}

bool FixtureCall::client_has(std::string_view capability) const {
    const auto* all = meta("io.modelcontextprotocol/clientCapabilities");
    return all && all->is_object() && all->get_object().contains(capability);
}

std::string_view text_in(const json::object& in, std::string_view member) {
    const auto* value = in.if_contains(member);
    const auto* text = value ? value->if_string() : nullptr;
    return text ? std::string_view(*text) : std::string_view();
}

const json::object& object_in(const json::object& in, std::string_view member) {
    static const json::object none;
    const auto* value = in.if_contains(member);
    const auto* object = value ? value->if_object() : nullptr;
    return object ? *object : none;
}

}  // namespace svc::mcp_conformance

SVC_MODULE(svc::mcp_conformance::Fixtures, "mcp-conformance", "mcp");
