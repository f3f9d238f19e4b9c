// What of the App brings events to those who wait for them.

#include "core/app.hpp"

#include "bus/channel.hpp"
#include "core/kernel_impl.hpp"

namespace svc::core {

void App::start_events() {
    auto& impl = kernel_->impl();
    consumers_ = std::make_unique<events::Consumers>(database(), impl.jobs, impl.consumers);
    auto listeners = impl.listeners;
    listeners.push_back([this](std::span<const StoredEvent> batch) { consumers_->wake(batch); });
    sequencer_ = std::make_unique<events::Sequencer>(
        database(), std::move(listeners), events::Sequencer::Settings(), bus_.get()
    );
    impl.sequencer = sequencer_.get();
    start_bus();
    impl.jobs.start(database());
    consumers_->start(sequencer_->emits_after());
}

void App::start_bus() {
    auto* driver = kernel_->find<BusDriver>();
    if (!driver) return;
    const Secret& key = secret();
    bus_->start(*driver, bus::channel_of(database(), key), [&key](std::string_view text) {
        return key.sign("bus.message", text);
    });
}

}  // namespace svc::core
