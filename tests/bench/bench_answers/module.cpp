#include "svc/module.hpp"

/// One operation that answers 1 KB without the database: what a request costs on its way through
/// the front end, the version check, routing, the writer, the log and the metrics.
namespace svc::bench_answers {

struct Note {
    Object<"note"> object;
    Uuid id;
    std::string title;
    std::vector<std::string> lines;
    std::int64_t version = 1;
    Timestamp created_time;
};
SVC_RECORD(
    Note,
    (object, "Always \"note\"."),
    (id, "Of the note."),
    (title, "What it is called."),
    (lines, "The text."),
    (version, "Of the note."),
    (created_time, "When it was written.")
);

Note get_note(Call&, const Nothing&) {
    static const Note note{
        {},
        *Uuid::parse("3f2c9a1e-6b7d-4c1a-9b1e-0a1b2c3d4e5f"),
        "A note of about one kilobyte",
        std::vector<std::string>(
            13, "Sixty-four letters of plain text; thirteen of it make a kilobyte."
        ),
        7,
        {1'790'000'000'000'000},
    };
    return note;
}

const Operation get_note_operation{
    .name = "get_bench_note",
    .route = "GET /v1/bench-note",
    .summary = "Answers a kilobyte of JSON",
    .access = Access::anyone,
    .tool = false,
    .handler = get_note,
};

class BenchAnswers : public Module {
public:
    void open(Kernel& kernel) override {
        kernel.tag("bench", "What benchmarks ask for.");
        kernel.add(get_note_operation);
    }
};

SVC_MODULE(BenchAnswers, "bench_answers");

}  // namespace svc::bench_answers
