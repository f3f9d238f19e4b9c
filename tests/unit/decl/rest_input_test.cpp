#include "reading.hpp"
#include "samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct UpdateShelf {
    Uuid shelf_id;
    std::optional<Uuid> org_id;
    std::optional<std::string> lease;
    std::string name;
    std::optional<std::int64_t> room;
    std::string made_by;
};
SVC_RECORD(
    UpdateShelf,
    (shelf_id, "The shelf."),
    (org_id, "Its workspace.", in_query),
    (lease, "A lease token.", in_header("x-svc-lease"), length(3, 9)),
    (name, "What it is called.", length(1, 5)),
    (room, "How many books.", range(0, 9)),
    (made_by, "Read-only.", read_only)
);

struct ListShelves {
    Paging paging;
    std::optional<bool> open;
    std::vector<std::string> label;
    std::optional<std::vector<Mood>> mood;
};
SVC_RECORD(
    ListShelves,
    (paging, "", flatten),
    (open, "Only open ones."),
    (label, "Having one of these.", length(0, 3), items_up_to(4), defaulted),
    (mood, "In one of these moods.")
);

struct PlayShelf {
    Uuid shelf_id;
    std::optional<std::string> note;
};
SVC_RECORD(PlayShelf, (shelf_id, "The shelf."), (note, "Why.", length(1, 5)));

void update(Call&, const UpdateShelf&) {}
void list(Call&, const ListShelves&) {}
void play(Call&, const PlayShelf&) {}
void ping(Call&, const Nothing&) {}

const Operation update_shelf{
    .name = "update_shelf",
    .route = "PATCH /v1/shelves/{shelf_id}",
    .summary = "Change a shelf.",
    .handler = update,
};
const Operation list_shelves{
    .name = "list_shelves",
    .route = "GET /v1/shelves",
    .summary = "List shelves.",
    .handler = list,
};
const Operation play_shelf{
    .name = "play_shelf",
    .route = "POST /v1/shelves/{shelf_id}:play",
    .summary = "Play with a shelf.",
    .handler = play,
};
const Operation remove_shelf{
    .name = "remove_shelf",
    .route = "DELETE /v1/shelves/{shelf_id}",
    .summary = "Remove a shelf.",
    .handler = play,
};
const Operation ping_all{
    .name = "ping_all",
    .route = "POST /v1/ping",
    .summary = "Say hello.",
    .handler = ping,
};

constexpr std::string_view some_id = "01890a5dac96774bbcceb302099a8057";

// A request to an operation, as its parts.
struct Sent {
    std::string shelf_id{some_id};
    std::string_view query{};
    std::string_view body{};
    std::vector<http::Header> headers{};
};

template <class In>
In fill(const Operation& operation, const Sent& sent) {
    http::Request request;
    request.query = sent.query;
    request.body = sent.body;
    request.headers = sent.headers;
    decl::Parts parts;
    parts.request = &request;
    if (operation.path().find("{shelf_id}") != std::string_view::npos)
        parts.path.emplace_back("shelf_id", sent.shelf_id);
    In in{};
    decl::RestInput(operation, parts).fill(&in);
    return in;
}

template <class In>
std::vector<std::string> places(const Operation& operation, const Sent& sent) {
    return places_of([&] { fill<In>(operation, sent); });
}

// Whether step 7 refuses already, before anybody's role is looked at.
bool refused_early(const Operation& operation, const Sent& sent) {
    http::Request request;
    request.query = sent.query;
    request.body = sent.body;
    request.headers = sent.headers;
    decl::Parts parts;
    parts.path.emplace_back("shelf_id", sent.shelf_id);
    parts.request = &request;
    return refusal_of([&] { decl::RestInput(operation, parts); }) != "[]";
}

TEST(Place, FollowsFromTheRouteAndTheRules) {
    const auto place = [](const Operation& operation, std::string_view name) {
        return operation.place(*operation.handler.input->find(name));
    };
    using Place = Operation::Place;
    EXPECT_EQ(place(update_shelf, "shelf_id"), Place::path);
    EXPECT_EQ(place(update_shelf, "org_id"), Place::query);
    EXPECT_EQ(place(update_shelf, "lease"), Place::header);
    EXPECT_EQ(place(update_shelf, "name"), Place::body);
    EXPECT_EQ(place(list_shelves, "page_size"), Place::query);
    EXPECT_EQ(place(play_shelf, "note"), Place::body);
    EXPECT_EQ(place(remove_shelf, "note"), Place::query);
}

TEST(RestInput, TakesEachFieldFromItsPlace) {
    const auto in = fill<UpdateShelf>(
        update_shelf,
        {.query = "org_id=11890a5d-ac96-774b-bcce-b302099a8057",
         .body = R"({"name":"tall","room":3,"made_by":{"any":"thing"}})",
         .headers = {{"Content-Type", "application/json; charset=utf-8"}, {"X-Svc-Lease", "lt_1"}}}
    );
    EXPECT_EQ(in.shelf_id, Uuid::parse(some_id));
    EXPECT_EQ(in.org_id->str(), "11890a5d-ac96-774b-bcce-b302099a8057");
    EXPECT_EQ(in.lease, "lt_1");
    EXPECT_EQ(in.name, "tall");
    EXPECT_EQ(in.room, 3);
    EXPECT_EQ(in.made_by, "");
}

TEST(RestInput, ReadsQueriesLooselyAndListsByRepetition) {
    const auto in = fill<ListShelves>(
        list_shelves, {.query = "page_size=50&open=YES&label=a+b&label=c%26d&&mood=new&mood=calm"}
    );
    EXPECT_EQ(in.paging.page_size, 50);
    EXPECT_EQ(in.open, true);
    EXPECT_THAT(in.label, ElementsAre("a b", "c&d"));
    EXPECT_THAT(*in.mood, ElementsAre(Mood::new_, Mood::calm));
    EXPECT_THAT(fill<ListShelves>(list_shelves, {.query = "label=x"}).label, ElementsAre("x"));
    EXPECT_EQ(fill<ListShelves>(list_shelves, {}).paging.page_size, 25);
}

TEST(RestInput, NamesTheNamedPlacesOfQueries) {
    EXPECT_THAT(
        places<ListShelves>(
            list_shelves,
            {.query = "page_size=101&open=maybe&label=abcde&label=ok&mood=calm&mood=sad&colour=red"}
        ),
        ElementsAre(
            R"(extra_forbidden at ["query","colour"])",
            R"(less_than_equal at ["query","page_size"])",
            R"(bool_parsing at ["query","open"])",
            R"(string_too_long at ["query","label",0])",
            R"(enum at ["query","mood",1])"
        )
    );
    EXPECT_THAT(
        places<ListShelves>(list_shelves, {.query = "page_size=1&page_size=2"}),
        ElementsAre(R"(int_type at ["query","page_size"])")
    );
    EXPECT_THAT(
        places<ListShelves>(list_shelves, {.query = "page_size="}),
        ElementsAre(R"(int_parsing at ["query","page_size"])")
    );
    EXPECT_THAT(
        places<ListShelves>(list_shelves, {.query = "open"}),
        ElementsAre(R"(bool_parsing at ["query","open"])")
    );
    EXPECT_THAT(
        places<ListShelves>(list_shelves, {.query = "label=a&label=b&label=c&label=d"}),
        ElementsAre(R"(too_long at ["query","label"])")
    );
}

TEST(RestInput, AMalformedEscapeIsRefusedWhereItStands) {
    EXPECT_THAT(
        places<ListShelves>(list_shelves, {.query = "open=%zz&start_cursor=%FF&%C3=1&label=%00"}),
        ElementsAre(
            R"(value_error at ["query","open"])",
            R"(value_error at ["query","start_cursor"])",
            R"(value_error at ["query","%C3"])",
            R"(value_error at ["query","label"])"
        )
    );
}

TEST(RestInput, PathQueryHeaderAndBodyAreReportedTogether) {
    EXPECT_THAT(
        places<UpdateShelf>(
            update_shelf,
            {.shelf_id = "me",
             .query = "org_id=x&who=me",
             .body = R"({"name":"","rom":1})",
             .headers = {{"x-svc-lease", "lt"}}}
        ),
        ElementsAre(
            R"(uuid_parsing at ["path","shelf_id"])",
            R"(extra_forbidden at ["query","who"])",
            R"(uuid_parsing at ["query","org_id"])",
            R"(string_too_short at ["header","x-svc-lease"])",
            R"(string_too_short at ["body","name"])",
            R"(extra_forbidden at ["body","rom"])"
        )
    );
}

TEST(RestInput, SyntaxIsRefusedBeforeTheBodysFields) {
    EXPECT_TRUE(refused_early(update_shelf, {.shelf_id = "me", .body = R"({"name":"x"})"}));
    EXPECT_TRUE(refused_early(update_shelf, {.query = "org_id=x", .body = R"({"name":"x"})"}));
    EXPECT_TRUE(refused_early(update_shelf, {.body = "{"}));
    EXPECT_FALSE(refused_early(update_shelf, {.body = R"({"name":7})"}));
    EXPECT_FALSE(refused_early(update_shelf, {}));
    EXPECT_FALSE(refused_early(update_shelf, {.body = "[]"}));
}

TEST(RestInput, FieldsOfOtherPlacesAreUnknownInTheBody) {
    EXPECT_THAT(
        places<UpdateShelf>(
            update_shelf,
            {.body = R"({"name":"x","shelf_id":"01890a5dac96774bbcceb302099a8057","lease":"lt_1"})"}
        ),
        ElementsAre(
            R"(extra_forbidden at ["body","shelf_id"])", R"(extra_forbidden at ["body","lease"])"
        )
    );
}

TEST(RestInput, ABodyMayBeMissingWhereEveryFieldIsOptional) {
    EXPECT_EQ(fill<PlayShelf>(play_shelf, {}).note, std::nullopt);
    EXPECT_EQ(fill<PlayShelf>(play_shelf, {.body = "{}"}).note, std::nullopt);
    EXPECT_EQ(fill<PlayShelf>(play_shelf, {.body = R"({"note":"x"})"}).note, "x");
    EXPECT_THAT(places<Nothing>(ping_all, {}), IsEmpty());
    EXPECT_THAT(places<Nothing>(ping_all, {.body = "{}"}), IsEmpty());
    EXPECT_THAT(
        places<Nothing>(ping_all, {.body = R"({"a":1})"}),
        ElementsAre(R"(extra_forbidden at ["body","a"])")
    );
}

TEST(RestInput, ABodyThatIsNeededAndMissingIsOneProblem) {
    const auto detail = refusal_of([&] { fill<UpdateShelf>(update_shelf, {.body = ""}); });
    EXPECT_THAT(places_in(problems_in(detail)), ElementsAre(R"(missing at ["body"])"));
    EXPECT_THAT(detail, HasSubstr("\"A body is required\""));
}

TEST(RestInput, NullIsNoObject) {
    const auto wrong = ElementsAre(R"(model_attributes_type at ["body"])");
    EXPECT_THAT(places<UpdateShelf>(update_shelf, {.body = "null"}), wrong);
    EXPECT_THAT(places<PlayShelf>(play_shelf, {.body = " null "}), wrong);
    EXPECT_THAT(places<Nothing>(ping_all, {.body = "null"}), IsEmpty());
}

TEST(RestInput, ABodyThatIsNoObjectIsRefused) {
    for (std::string_view body : {"[]", "5", "\"x\"", "true"})
        EXPECT_THAT(
            places<UpdateShelf>(update_shelf, {.body = body}),
            ElementsAre(R"(model_attributes_type at ["body"])")
        ) << body;
}

TEST(RestInput, OnlyJsonIsABody) {
    const auto with_type = [](std::string_view type) {
        return places<UpdateShelf>(
            update_shelf, {.body = R"({"name":"x"})", .headers = {{"content-type", type}}}
        );
    };
    for (std::string_view type :
         {"application/json",
          "Application/JSON ; charset=utf-8",
          "application/merge-patch+json",
          ""})
        EXPECT_THAT(with_type(type), IsEmpty()) << type;
    for (std::string_view type :
         {"text/plain",
          "application/x-www-form-urlencoded",
          "multipart/form-data; boundary=x",
          "text/json",
          "application/jsonx",
          "image/svg+json"})
        EXPECT_THAT(with_type(type), ElementsAre(R"(model_attributes_type at ["body"])")) << type;
    // What there is nothing of has no type.
    EXPECT_EQ(
        fill<PlayShelf>(play_shelf, {.headers = {{"content-type", "text/plain"}}}).note,
        std::nullopt
    );
}

TEST(RestInput, JsonThatIsNoneNamesItsOffset) {
    EXPECT_THAT(
        places<UpdateShelf>(update_shelf, {.body = R"({"name":"x",})"}),
        ElementsAre(R"(json_invalid at ["body",12])")
    );
    EXPECT_THAT(
        places<UpdateShelf>(update_shelf, {.shelf_id = "me", .body = "{"}),
        ElementsAre(R"(uuid_parsing at ["path","shelf_id"])", R"(json_invalid at ["body",1])")
    );
}

TEST(RestInput, AHeaderThatIsNotTextIsRefused) {
    EXPECT_THAT(
        places<UpdateShelf>(
            update_shelf, {.body = R"({"name":"x"})", .headers = {{"x-svc-lease", "lt\xFF_"}}}
        ),
        ElementsAre(R"(value_error at ["header","x-svc-lease"])")
    );
}

TEST(RestInput, CanFillAgainWhenAHandlerRunsAgain) {
    http::Request request;
    request.body = R"({"note":"x"})";
    decl::Parts parts;
    parts.path.emplace_back("shelf_id", some_id);
    parts.request = &request;
    const decl::RestInput input(play_shelf, parts);
    for (int i = 0; i < 2; ++i) {
        PlayShelf in;
        input.fill(&in);
        EXPECT_EQ(in.note, "x");
        EXPECT_EQ(in.shelf_id, Uuid::parse(some_id));
    }
}

// ----------------------------------------------------------------------- flat

template <class In>
In fill_flat(const Operation& operation, std::string_view arguments) {
    In in{};
    decl::fill_flat(operation, decl::parse_json(arguments, "arguments"), &in);
    return in;
}

TEST(FlatInput, TakesEveryFieldSideBySide) {
    const auto in = fill_flat<UpdateShelf>(
        update_shelf,
        R"({"shelf_id":"01890a5dac96774bbcceb302099a8057","lease":"lt_1","name":"x","room":2})"
    );
    EXPECT_EQ(in.shelf_id, Uuid::parse(some_id));
    EXPECT_EQ(in.lease, "lt_1");
    EXPECT_EQ(in.room, 2);
    EXPECT_EQ(fill_flat<ListShelves>(list_shelves, R"({"page_size":7})").paging.page_size, 7);
    EXPECT_EQ(fill_flat<ListShelves>(list_shelves, "null").paging.page_size, 25);
}

TEST(FlatInput, ReportsEverythingAtOnceAndReadsNothingLoosely) {
    EXPECT_THAT(
        places_of([] {
            fill_flat<UpdateShelf>(update_shelf, R"({"shelf_id":"me","name":"","room":"2","x":0})");
        }),
        ElementsAre(
            R"(uuid_parsing at ["arguments","shelf_id"])",
            R"(string_too_short at ["arguments","name"])",
            R"(int_type at ["arguments","room"])",
            R"(extra_forbidden at ["arguments","x"])"
        )
    );
    EXPECT_THAT(
        places_of([] { fill_flat<UpdateShelf>(update_shelf, "[]"); }),
        ElementsAre(R"(model_attributes_type at ["arguments"])")
    );
}

}  // namespace
}  // namespace svc::test
