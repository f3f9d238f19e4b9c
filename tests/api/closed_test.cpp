#include "tests/api/furnished.hpp"

/// What is closed stays as it is. On an archived board, of a card in the trash and under a lease
/// that is over, every operation of /openapi.json that would write there is called, and has to
/// refuse and say why. What the reference says of reasons comes to a good part from here.
namespace svc::test {

namespace {

using Names = std::set<std::string>;

/// Bodies that change something, where the smallest that the schema allows changes nothing.
const std::map<std::string, std::string> changes{
    {"update_card", R"({"title": "Changed"})"},
    {"update_comment", R"({"markdown": "Changed"})"},
    {"update_block", R"({"paragraph": {"rich_text": [{"text": {"content": "Changed"}}]}})"},
};

class Closed : public Furnished {
protected:
    Closed() : side(server, "ada@example.com", "Acme") { furnish(side); }

    /// The reason with which it refuses, or the code, or else the status.
    std::string said_by(const Described& operation, const Headers& headers = {}) {
        std::string missing;
        const auto values = side.fill(operation, missing);
        if (!values) return "no " + missing;
        auto bodies = bodies_for(side, operation);
        if (const auto known = changes.find(operation.name); known != changes.end())
            bodies = {known->second};
        Reply reply;
        for (const auto& body : bodies) {
            reply =
                side.workspace.client.send(operation.method, operation.at(*values), body, headers);
            if (reply.status != 422) break;
        }
        if (reply.status < 400) return std::to_string(reply.status);
        const json::value answer = reply.json();
        json::error_code none;
        const auto* reason = answer.find_pointer("/additional_data/reason", none);
        return std::string((reason ? *reason : answer.at("code")).as_string());
    }

    Side side;
};

bool writes_to_board(const Described& operation) {
    return operation.method != "GET" &&
           operation.access.find("access to the board") != std::string::npos;
}

bool writes_to_card(const Described& operation) {
    return operation.method != "GET" && operation.path.find("{card_id}") != std::string::npos;
}

}  // namespace

TEST_F(Closed, AnArchivedBoardIsNotWrittenTo) {
    const Names end_it{"delete_board", "restore_board", "archive_board"};
    const Names leave_it_as_it_is{
        "watch_card", "unwatch_card", "duplicate_board", "create_share_link", "revoke_share_link"};
    const auto board = "/v1/boards/" + side.id_for("board_id").value();
    expect(200, side.workspace.client.post(board + ":archive"));
    int refused = 0;
    for (const Described& each : interface.operations()) {
        if (!writes_to_board(each) || end_it.contains(each.name)) continue;
        if (leave_it_as_it_is.contains(each.name)) continue;
        EXPECT_EQ(said_by(each), "board_archived") << each.name;
        ++refused;
    }
    EXPECT_GT(refused, 30);
}

TEST_F(Closed, ACardInTheTrashIsNotWrittenTo) {
    const Names end_it{"delete_card", "restore_card"};
    const Names leave_it_as_it_is{"watch_card", "unwatch_card", "unlink_cards"};
    const Names of_queues{"hold_card", "requeue_card"};  // which it has left
    const auto card = "/v1/cards/" + side.id_for("card_id").value();
    expect(204, side.workspace.client.send("DELETE", card));
    int refused = 0;
    for (const Described& each : with_ids()) {
        if (!writes_to_card(each) || end_it.contains(each.name)) continue;
        if (leave_it_as_it_is.contains(each.name)) continue;
        const auto reason = of_queues.contains(each.name) ? "not_queued" : "card_in_trash";
        EXPECT_EQ(said_by(each), reason) << each.name;
        ++refused;
    }
    EXPECT_GT(refused, 10);
}

TEST_F(Closed, ALeaseThatIsOverWritesNothing) {
    const Names change_nothing_here{"restore_card", "link_cards", "unlink_cards"};
    const Names of_files{"attach_file", "detach_file"};  // whose tests see to it
    int refused = 0;
    for (const Described& each : interface.operations()) {
        if (!each.under_lease || change_nothing_here.contains(each.name)) continue;
        if (of_files.contains(each.name)) continue;
        EXPECT_EQ(said_by(each, {{"X-Svc-Lease", "lt_over"}}), "lease_lost") << each.name;
        ++refused;
    }
    EXPECT_GT(refused, 10);
}

}  // namespace svc::test
