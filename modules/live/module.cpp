#include "svc/module.hpp"

#include "modules/live/event_kinds.hpp"
#include "modules/live/list_events.hpp"
#include "modules/live/personal.hpp"
#include "modules/live/presence.hpp"
#include "modules/live/streams.hpp"
#include "modules/live/tickets.hpp"
#include "svc/open_streams.hpp"

#include <algorithm>
#include <cstdio>

namespace svc::live {

namespace {

class Live final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel.tag("events", "What happens in a workspace, as it happens.");
        const auto settings = kernel.settings<Settings>();
        hub_.emplace(
            kernel,
            Hub::Limits{
                .streams_per_principal = static_cast<std::size_t>(settings.streams_per_principal),
                .waits_per_principal = static_cast<std::size_t>(settings.waits_per_principal),
            }
        );
        streams_.emplace(kernel, *hub_, settings);
        tickets_.emplace(kernel);
        kernel.add(*tickets_);
        kernel.offer(*hub_);
        kernel.offer<PersonalStreams>(personal_.emplace(*hub_));
        for (const Operation* each : {&list_events, &list_event_kinds, &create_ws_ticket})
            kernel.add(*each);
        add_routes(kernel);
        kernel.listen([this,
                       &open = kernel.use<OpenStreams>()](std::span<const StoredEvent> batch) {
            hub_->hear(batch);
            revalidate_confined(open, batch);
        });
        kernel.every("live.keep_alive", Hub::beat, [this] { hub_->keep_alive(); });
        presence_.emplace(kernel, *hub_);
        kernel.every("live.presence", std::chrono::seconds(2), [this] { presence_->tick(); });
        add_sweep_of_presence(kernel);
        kernel.add(Command{
            .name = "event-kinds",
            .summary = "Prints the kinds of events, as docs/events.md has them.",
            .run = [&kernel](auto) { return std::puts(kinds_as_markdown(kernel).c_str()) < 0; },
            .needs_database = false,
        });
        add_metrics(kernel);
    }

    void start() override { hub_->start(); }
    void stop() noexcept override {
        if (presence_) presence_->leave();
        if (hub_) hub_->stop();
    }

private:
    void add_routes(Kernel& kernel) {
        kernel.add(Route{
            .method = "GET",
            .path = "/v1/ws",
            .access = Access::me,
            .handle = [this](RouteCall& call) { return streams_->open_web_socket(call); },
            .toolset = "events",
        });
        kernel.add(Route{
            .method = "GET",
            .path = "/v1/sse",
            .access = Access::me,
            .handle = [this](RouteCall& call) { return streams_->open_sse(call); },
            .toolset = "events",
            .with_refusals = [this](auto& request, int) {
                return streams_->for_other_sites(request);
            },
        });
    }

    /// A grant confines an agent, who then looks after none of the workspace.
    static void revalidate_confined(OpenStreams& open, std::span<const StoredEvent> batch) {
        for (const StoredEvent& each : batch)
            if (kind_matches("grant.*", each.kind)) open.revalidate(each.org_id);
    }

    void add_metrics(Kernel& kernel) {
        kernel.add_metric(
            "workboard_live_readers",
            "Streams of events that are open here.",
            [this] { return static_cast<double>(hub_->load().readers); }
        );
        kernel.add_metric("workboard_live_events_total", "Events handed out to streams.", [this] {
            return static_cast<double>(hub_->load().handed_out);
        });
        kernel.add_metric(
            "workboard_live_overflows_total",
            "Times that events came faster than they could be handed out, and were looked up "
            "instead.",
            [this] { return static_cast<double>(hub_->load().lost); }
        );
    }

    std::optional<Hub> hub_;
    std::optional<SharedPresence> presence_;
    std::optional<Personal> personal_;
    std::optional<Streams> streams_;
    std::optional<TicketAuthenticator> tickets_;
};

}  // namespace

}  // namespace svc::live

SVC_MODULE(svc::live::Live, "live", "boards");
