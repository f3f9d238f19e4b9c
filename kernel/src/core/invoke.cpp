#include "core/invoke.hpp"

#include "decl/input.hpp"

#include <boost/json.hpp>

namespace svc::core {

namespace {

class FlatInput final : public Input {
public:
    FlatInput(const Run& run, std::string_view arguments)
        : operation_(run.operation), who_(run.who), text_(arguments) {}
    /// The caller's is settled by now, and arguments can name no other.
    void check_workspace() const override {}
    void check_syntax() override {
        if (value_.is_null()) {
            value_ =
                text_.empty() ? json::value(json::object{}) : decl::parse_json(text_, "arguments");
            expected_version_ = decl::take_expected_version(operation_, value_);
            named_lease_ = decl::take_named_lease(operation_, value_);
        }
        require_own_workspace();
    }
    void fill(void* input) override { decl::fill_flat(operation_, value_, input); }
    std::optional<std::int64_t> expected_version() const override { return expected_version_; }
    std::string_view named_lease() const override { return named_lease_; }
    std::string_view body() const override { return text_; }
    std::optional<Subject> subject() const override;

private:
    void require_own_workspace() const;

    const Operation& operation_;
    const CallerResolver& who_;
    std::string_view text_;
    json::value value_;
    std::optional<std::int64_t> expected_version_;
    std::string named_lease_;
};

/// The caller's workspace is settled before the arguments are looked at, so they can name it and
/// no other.
void FlatInput::require_own_workspace() const {
    const json::object* given = value_.if_object();
    if (!given || !operation_.handler.input->find("org_id")) return;
    const json::value* value = given->if_contains("org_id");
    const auto* text = value ? value->if_string() : nullptr;
    const auto named = text ? Uuid::parse(*text) : std::nullopt;
    const Caller* caller = who_.caller();
    if (named && caller && caller->org_id != named) not_found("workspace");
}

std::optional<Input::Subject> FlatInput::subject() const {
    const json::object* given = value_.if_object();
    if (!given) return std::nullopt;
    std::string_view rest = operation_.path();
    for (auto open = rest.rfind('{'); open != rest.npos; open = rest.rfind('{')) {
        const auto field = rest.substr(open + 1, rest.find('}', open) - open - 1);
        const json::value* value = given->if_contains(field);
        const auto* text = value ? value->if_string() : nullptr;
        if (const auto id = text ? Uuid::parse(*text) : std::nullopt) return Subject{field, *id};
        rest = rest.substr(0, open);
    }
    return std::nullopt;
}

}  // namespace

Invoked invoke_within(const Run& run, std::string_view arguments) {
    FlatInput input(run, arguments);
    try {
        http::Answer answer = run_operation(run, input).value();
        return {answer.status, std::move(answer.body)};
    } catch (const Failure& failure) {
        return {failure.status(), failure.body(run.request_context.request_id)};
    } catch (const std::exception& problem) {
        auto answer = answer_of_unexpected(problem.what(), run.request_context.request_id);
        return {answer.status, std::move(answer.body)};
    }
}

Invoked invoke_for(Kernel& kernel, const Caller& caller, const Invocation& invocation) {
    RequestContext request_context{.request_id = new_uuid().str()};
    const Declared* declared = kernel.find_operation(invocation.operation);
    if (!declared || !declared->operation->tool) {
        const Failure failure(
            Fault::not_found, "There is no operation " + std::string(invocation.operation) + "."
        );
        return {failure.status(), failure.body(request_context.request_id)};
    }
    CallerResolver who(kernel.impl(), caller);
    const Run run{
        .kernel = kernel,
        .operation = *declared->operation,
        .who = who,
        .request_context = request_context,
        .surface = invocation.surface,
        .may_block = true,
        .invocation = &invocation,
    };
    return invoke_within(run, invocation.arguments);
}

}  // namespace svc::core
