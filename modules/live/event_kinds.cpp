#include "modules/live/event_kinds.hpp"

#include "modules/live/filter.hpp"

#include <algorithm>
#include <map>

namespace svc::live {

namespace {

struct EventKindInfo {
    Object<"event_kind"> object;
    std::string kind;
    std::string summary;
    std::string subject;
    JsonText data_schema;
    JsonText subject_schema;
};
SVC_RECORD(
    EventKindInfo,
    (object),
    (kind, "`noun.verb`, as in an event's `kind`."),
    (summary, "When it happens."),
    (subject, "The type of what it is about: `data.object`, and the type of `event.subject`."),
    (data_schema, "The JSON Schema of `data`."),
    (subject_schema, "The JSON Schema of `event.subject`, as scripts get it.")
);

struct ListKindsRequest {
    std::string kind = "*";
    Paging paging;
};
SVC_RECORD(
    ListKindsRequest,
    (kind,
     "Only these: a kind, `noun.*` or `*`.",
     matches(kind_pattern),
     length(1, longest_kind),
     defaulted),
    (paging, "", flatten)
);

/// Those that are events, by name.
std::vector<const EventKind*> kinds_of(const Kernel& kernel, std::string_view filter) {
    std::vector<const EventKind*> kinds;
    for (const EventKind* each : kernel.event_kinds())
        if (each->record && kind_matches(filter, each->name)) kinds.push_back(each);
    std::ranges::sort(kinds, {}, &EventKind::name);
    return kinds;
}

Page<EventKindInfo> list_kinds(Call& call, const ListKindsRequest& in) {
    const auto after = call.after(in.paging);
    std::vector<EventKindInfo> rows;
    for (const EventKind* each : kinds_of(call.kernel(), in.kind)) {
        if (after && each->name <= after->front()) continue;
        if (rows.size() > static_cast<std::size_t>(in.paging.page_size)) break;
        rows.push_back(
            {{},
             std::string(each->name),
             std::string(each->summary),
             std::string(each->object),
             {call.kernel().event_schema(*each)},
             {call.kernel().record_schema(each->subject_record())}}
        );
    }
    return call.page(std::move(rows), in.paging, [](const EventKindInfo& last) {
        return std::vector{last.kind};
    });
}

/// The fields of a record as a line of code words, those of `flatten` records among them.
void append_fields(const Record& record, std::string& out) {
    for (const Field& field : record.fields) {
        if (field.rules.secret) continue;
        if (field.rules.flatten) {
            append_fields(field.codec->record(), out);
            continue;
        }
        ((out += out.empty() ? "`" : " `") += field.name) += '`';
    }
}

std::string fields_of(const Record& record) {
    std::string out;
    append_fields(record, out);
    return out;
}

std::string places_of(unsigned at) {
    std::string out;
    const auto add = [&](unsigned flag, std::string_view names) {
        if (at & flag) (out += out.empty() ? "" : " ") += names;
    };
    add(at::board, "`board_id`");
    add(at::column, "`column_id`");
    add(at::card, "`card_id`");
    add(at::parent, "`parent_id`");
    add(at::move, "`from` `to`");
    return out;
}

}  // namespace

const Operation list_event_kinds{
    .name = "list_event_kinds",
    .route = "GET /v1/event-kinds",
    .summary = "List the kinds of events with the shape of their data",
    .description =
        "What can happen in a workspace, by name: when an event of each kind is emitted, what it "
        "is about, and the JSON Schema of its `data`. Webhooks, streams and scripts get the same "
        "events; filters are a kind, `noun.*` or `*`.",
    .access = Access::me,
    .handler = list_kinds,
};

std::string kinds_as_markdown(const Kernel& kernel) {
    std::string out = "| Kind | When | Subject | Besides `id` and `version` |\n|---|---|---|---|\n";
    std::map<std::string, std::string> subjects;
    for (const EventKind* each : kinds_of(kernel, "*")) {
        out += "| `" + std::string(each->name) + "` | " + std::string(each->summary) + " | `" +
               std::string(each->object) + "` | " + places_of(each->at) + " |\n";
        subjects.try_emplace(std::string(each->object), fields_of(each->subject_record()));
    }
    out += "\n| Subject | Its fields |\n|---|---|\n";
    for (const auto& [subject, fields] : subjects)
        out += "| `" + subject + "` | " + fields + " |\n";
    return out;
}

}  // namespace svc::live
