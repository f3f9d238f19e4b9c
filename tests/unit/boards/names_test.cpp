#include "modules/boards/api/card_ref.hpp"

#include <gtest/gtest.h>

namespace svc::boards {

TEST(BoardKey, OneWordGivesItsFirstLetters) {
    EXPECT_EQ(key_from("Engineering"), "ENG");
    EXPECT_EQ(key_from("ops"), "OPS");
}

TEST(BoardKey, SeveralWordsGiveTheirInitials) {
    EXPECT_EQ(key_from("Product Design Team"), "PDT");
    EXPECT_EQ(key_from("road-map 2026"), "RM2");
}

TEST(BoardKey, WhateverTheNameItIsAKey) {
    for (const char* name :
         {"X", "42", "", "   ", "日本", "über uns", "9 lives", "a b c d e f g h i j k l"})
        EXPECT_TRUE(is_board_key(key_from(name))) << name << " gave " << key_from(name);
}

TEST(BoardKey, LeavesRoomForANumber) {
    EXPECT_LE(key_from("a b c d e f g h i j k l m").size(), 7U);
}

TEST(BoardKey, TakesTwoToTenCapitalsAndDigitsALetterFirst) {
    for (const char* good : {"AB", "ENG", "A1", "ABCDEFGHIJ"}) EXPECT_TRUE(is_board_key(good));
    for (const char* bad : {"", "A", "1A", "eng", "ENG-1", "ABCDEFGHIJK", "Ä1"})
        EXPECT_FALSE(is_board_key(bad)) << bad;
}

TEST(CardRef, IsAnIdInEitherForm) {
    const auto hyphened = CardRef::parse("0192f0c1-2d3e-7f40-8123-456789abcdef");
    const auto bare = CardRef::parse("0192F0C12D3E7F408123456789ABCDEF");
    ASSERT_TRUE(hyphened && bare);
    EXPECT_EQ(hyphened->id, bare->id);
}

TEST(CardRef, IsAKeyWhateverTheCase) {
    const auto ref = CardRef::parse("eng-42");
    ASSERT_TRUE(ref);
    EXPECT_FALSE(ref->id);
    EXPECT_EQ(ref->board_key, "ENG");
    EXPECT_EQ(ref->number, 42);
    EXPECT_EQ(ref->str(), "ENG-42");
}

TEST(CardRef, IsNothingElse) {
    for (const char* bad :
         {"",
          "ENG",
          "ENG-",
          "ENG-0",
          "ENG--1",
          "ENG-1x",
          "-1",
          "ENG 42",
          "ENG-99999999999999999999",
          "0192f0c1-2d3e-7f40-8123"})
        EXPECT_FALSE(CardRef::parse(bad)) << bad;
}

}  // namespace svc::boards
