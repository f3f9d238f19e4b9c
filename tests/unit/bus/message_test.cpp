#include "bus/message.hpp"

#include "bus/pending.hpp"
#include "core/secret.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace svc::test {

using bus::MessageFormat;
using bus::Note;
using bus::PendingNotes;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

MessageFormat format_with(const std::string& key) {
    return MessageFormat([secret = std::make_shared<core::Secret>(key)](std::string_view text) {
        return secret->sign("bus.message", text);
    });
}

const std::string one_key(32, 'k'), another_key(32, 'o');

}  // namespace

TEST(BusMessage, IsReadAsItWasWritten) {
    const auto format = format_with(one_key);
    const auto sender = bus::new_sender();
    const std::vector<Note> notes{"events.sequenced", "queue.ready 0197", "a b c"};
    const auto message = format.read(format.write(sender, notes)).value();
    EXPECT_EQ(message.sender, sender);
    EXPECT_EQ(message.notes, notes);
    EXPECT_EQ(bus::parts_of("a b c"), std::pair(std::string_view("a"), std::string_view("b c")));
    EXPECT_THAT(format.read(format.write(sender, {})).value().notes, IsEmpty());
    EXPECT_NE(bus::new_sender(), sender);
}

TEST(BusMessage, OfWhoeverHasNotTheKeyIsNotRead) {
    const auto format = format_with(one_key);
    const std::vector<Note> notes{"events.sequenced"};
    const auto text = format.write(bus::new_sender(), notes);
    EXPECT_FALSE(format_with(another_key).read(text));
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto altered = text;
        altered[i] = static_cast<char>(altered[i] ^ 1);
        EXPECT_FALSE(format.read(altered)) << i;
        EXPECT_FALSE(format.read(text.substr(0, i))) << i;
    }
    EXPECT_FALSE(format.read(text + "\nqueue.ready"));
    EXPECT_FALSE(format.read(std::string(10'000, '\0')));
}

TEST(BusMessage, ChannelsAreWords) {
    EXPECT_TRUE(bus::is_channel("events.leader_left"));
    for (const char* word : {"", "a b", "a\nb", "A", "é"}) EXPECT_FALSE(bus::is_channel(word));
}

TEST(PendingNotes, AreSentOnceEach) {
    PendingNotes pending;
    EXPECT_EQ(pending.add("a"), PendingNotes::Added::first);
    EXPECT_EQ(pending.add("a"), PendingNotes::Added::already_there);
    EXPECT_EQ(pending.add("b"), PendingNotes::Added::behind_others);
    EXPECT_THAT(pending.take(), ElementsAre("a", "b"));
    EXPECT_TRUE(pending.empty());
    EXPECT_EQ(pending.add("a"), PendingNotes::Added::first) << "once more, for it was sent before";
}

TEST(PendingNotes, FitIntoMessagesAndStayBounded) {
    const auto format = format_with(one_key);
    PendingNotes pending;
    std::size_t added = 0;
    for (int i = 0; i < 5'000; ++i)
        added += pending.add(std::to_string(i) + std::string(Bus::longest_payload, 'x')) !=
                 PendingNotes::Added::no_room;
    EXPECT_EQ(added, PendingNotes::most);
    std::size_t taken = 0, messages = 0;
    for (; !pending.empty(); ++messages) {
        const auto notes = pending.take();
        ASSERT_FALSE(notes.empty());
        taken += notes.size();
        EXPECT_LE(format.write(bus::new_sender(), notes).size(), BusConnection::longest_message);
    }
    EXPECT_EQ(taken, added);
    EXPECT_LT(messages, added / 15) << "they are filled";
}

}  // namespace svc::test
