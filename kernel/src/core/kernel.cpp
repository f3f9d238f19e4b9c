#include "core/invoke.hpp"
#include "core/kernel_impl.hpp"
#include "events/sequencer.hpp"
#include "svc/module.hpp"

#include <boost/json/value.hpp>

#include <fstream>
#include <sstream>

namespace svc {

void Kernel::Impl::nudge() {
    if (events::Sequencer* here = sequencer) here->nudge();
}

Kernel::Kernel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Kernel::~Kernel() = default;

void Kernel::tag(std::string name, std::string description) {
    impl_->tag = name;
    for (auto& each : impl_->tags) {
        if (each.name != name) continue;
        // Several modules may add to one tag; whoever knows what it is describes it.
        if (each.description.empty()) each.description = std::move(description);
        return;
    }
    impl_->tags.push_back({std::move(name), std::move(description)});
}

void Kernel::add(const Operation& operation) {
    if (!impl_->operation_numbers.emplace(operation.name, impl_->operations.size()).second)
        throw std::logic_error("operation declared twice: " + std::string(operation.name));
    if (impl_->tag.empty()) tag(impl_->opening, "Operations of the module " + impl_->opening + ".");
    impl_->operations.push_back({&operation, impl_->opening, impl_->tag});
}

void Kernel::add(const EventKind& kind) {
    if (kind.record && !impl_->event_kind_names.emplace(kind.name, &kind).second)
        throw std::logic_error("kind of event declared twice: " + std::string(kind.name));
    impl_->event_kinds.push_back(&kind);
}
void Kernel::add(const Authenticator& authenticator) {
    impl_->authenticators.push_back(&authenticator);
}
void Kernel::add(Route route) {
    if (route.receive && route.access != Access::anyone)
        throw std::logic_error(route.path + " takes bodies before it is known from whom");
    impl_->routes.push_back(std::move(route));
}
void Kernel::add_folder(std::string url_prefix, std::string folder) {
    impl_->folders.push_back({std::move(url_prefix), std::move(folder)});
}
void Kernel::add(Consumer consumer) { impl_->consumers.push_back(std::move(consumer)); }
void Kernel::add(Command command) { impl_->commands.push_back(std::move(command)); }
void Kernel::veto(const EventKind& kind, Veto veto) {
    if (!kind.vetoable) throw std::logic_error("nobody may refuse " + std::string(kind.name));
    this->veto(
        [name = kind.name](const Call&, const EventKind& each) { return each.name == name; },
        std::move(veto)
    );
}
void Kernel::veto(std::function<bool(const Call&, const EventKind&)> which, Veto veto) {
    impl_->hooks.veto(std::move(which), std::move(veto));
}
void Kernel::in_transaction(const EventKind& kind, TransactionHook hook) {
    impl_->hooks.in_transaction(kind.name, std::move(hook));
}
void Kernel::listen(EventListener listener) { impl_->listeners.push_back(std::move(listener)); }
void Kernel::every(
    std::string name, std::chrono::milliseconds interval, std::function<void()> run
) {
    impl_->timers.push_back({std::move(name), interval, std::move(run)});
}
void Kernel::add_metric(std::string name, std::string help, std::function<double()> read) {
    impl_->gauges.push_back(
        {core::metric_name(name), std::move(help), std::move(read), impl_->opening}
    );
}

void Kernel::offer(std::string_view name, void* service) {
    if (!impl_->services.emplace(name, service).second)
        throw std::logic_error("service offered twice: " + std::string(name));
}

void* Kernel::find_service(std::string_view name) const {
    if (void* service = find_service_if_any(name)) return service;
    throw std::logic_error("no module offers the service " + std::string(name));
}

void* Kernel::find_service_if_any(std::string_view name) const {
    const auto found = impl_->services.find(name);
    return found == impl_->services.end() ? nullptr : found->second;
}

void Kernel::read_settings(const Record& record, void* settings) {
    impl_->config->read(impl_->opening, record, settings);
}

const std::vector<Declared>& Kernel::operations() const { return impl_->operations; }

const Declared* Kernel::find_operation(std::string_view name) const {
    const auto found = impl_->operation_numbers.find(name);
    return found == impl_->operation_numbers.end() ? nullptr : &impl_->operations[found->second];
}

const std::vector<const EventKind*>& Kernel::event_kinds() const { return impl_->event_kinds; }

const EventKind* Kernel::find_event_kind(std::string_view name) const {
    const auto found = impl_->event_kind_names.find(name);
    return found == impl_->event_kind_names.end() ? nullptr : found->second;
}

const EventKind& Kernel::event_kind(std::string_view name) const {
    if (const EventKind* kind = find_event_kind(name)) return *kind;
    throw std::logic_error("no module has added the kind of event " + std::string(name));
}

void Kernel::transact(Tx::Mode mode, const std::function<void(Tx&)>& work) {
    impl_->database->transact(mode, work);
    if (mode == Tx::Mode::write) impl_->nudge();  // it may have emitted something
}

Invoked Kernel::invoke(const Caller& caller, const Invocation& invocation) {
    return core::invoke_for(*this, caller, invocation);
}

void Kernel::wake(std::string_view topic) { impl_->wait_queue.wake(topic); }

void Kernel::wake_one(std::string_view topic) { impl_->wait_queue.wake_one(topic); }

const Authenticator* Kernel::find_authenticator(std::string_view name) const {
    for (const Authenticator* each : impl_->authenticators)
        if (each->name() == name) return each;
    return nullptr;
}

void Kernel::forget(std::string_view authenticator, std::string_view key) {
    impl_->identities.forget_key(authenticator, key);
}

std::string Kernel::sign(std::string_view purpose, std::string_view message) const {
    return impl_->secret->sign(purpose, message);
}

std::string Kernel::seal(std::string_view purpose, std::string_view context, std::string_view text)
    const {
    return impl_->secret->seal(purpose, context, text);
}

std::optional<std::string> Kernel::unseal(
    std::string_view purpose, std::string_view context, std::string_view sealed
) const {
    std::string text = impl_->secret->unseal(purpose, context, sealed);
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

const std::string& Kernel::base_url() const { return impl_->base_url; }
const std::string& Kernel::var_folder() const { return impl_->var_folder; }
const std::string& Kernel::share_folder() const { return impl_->share_folder; }
bool Kernel::stopping() const { return impl_->stopping; }

namespace {

/// A file of the program's own; empty when it is not there.
std::string shared_file(const std::string& path) {
    const std::ifstream file(path);
    std::ostringstream text;
    if (file) text << file.rdbuf();
    return std::move(text).str();
}

}  // namespace

const std::string& Kernel::openapi() const {
    std::call_once(impl_->openapi_once, [&] {
        decl::OpenApiInput in{.base_url = impl_->base_url, .tags = impl_->tags, .operations = {}};
        for (const Declared& each : impl_->operations)
            in.operations.push_back({each.operation, each.tag});
        const std::string reference = share_folder() + "/manual/reference/";
        in.recorded = shared_file(reference + "examples.json");
        in.refusals = shared_file(reference + "refusals.json");
        impl_->openapi = decl::openapi(in);
    });
    return impl_->openapi;
}

std::string Kernel::tool_schema(const Operation& operation) const {
    return decl::tool_schema(operation);
}

std::string Kernel::event_schema(const EventKind& kind) const { return decl::event_schema(kind); }

std::string Kernel::record_schema(const Record& record) const {
    return decl::record_schema(record);
}

std::optional<Failure> Kernel::check_arguments(
    const Operation& operation, std::string_view arguments
) const try {
    auto given = decl::parse_json(arguments, "arguments");
    decl::take_expected_version(operation, given);
    decl::take_named_lease(operation, given);
    decl::fill_flat(operation, given, nullptr);
    return std::nullopt;
} catch (const Failure& failure) {
    return failure;
}

}  // namespace svc
