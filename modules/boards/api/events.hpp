#pragma once

#include "svc/events.hpp"

/// What boards emits about boards, columns, labels, properties and cards.
namespace svc::boards {

// Their descriptions are named here and looked at by whoever emits: so that what emits events of
// boards is not compiled again when cards have another field.
struct Board;
struct Column;
struct Label;
struct PropertyDefinition;
struct Card;
struct CardLink;
const Record& svc_describe(const Board*);
const Record& svc_describe(const Column*);
const Record& svc_describe(const Label*);
const Record& svc_describe(const PropertyDefinition*);
const Record& svc_describe(const Card*);
const Record& svc_describe(const CardLink*);

inline constexpr EventKind board_created{
    "board.created", "board", "A board was made.", &record_of<Board>, at::board};
inline constexpr EventKind board_updated{
    "board.updated",
    "board",
    "A board's name, key, icon or visibility was changed, or it was archived.",
    &record_of<Board>,
    at::board};
inline constexpr EventKind board_deleted{
    "board.deleted", "board", "A board was put into the trash.", &record_of<Board>, at::board};
inline constexpr EventKind board_restored{
    "board.restored",
    "board",
    "A board was brought back from the archive or the trash.",
    &record_of<Board>,
    at::board};
inline constexpr EventKind column_created{
    "column.created",
    "column",
    "A board got another column.",
    &record_of<Column>,
    at::board | at::column};
inline constexpr EventKind column_updated{
    "column.updated",
    "column",
    "A column has another name, kind, limit, queue or place.",
    &record_of<Column>,
    at::board | at::column};
inline constexpr EventKind column_deleted{
    "column.deleted",
    "column",
    "A board lost a column.",
    &record_of<Column>,
    at::board | at::column};
inline constexpr EventKind label_created{
    "label.created", "label", "A board got another label.", &record_of<Label>, at::board};
inline constexpr EventKind label_updated{
    "label.updated",
    "label",
    "A label has another name or color; cards follow within moments.",
    &record_of<Label>,
    at::board};
inline constexpr EventKind label_deleted{
    "label.deleted",
    "label",
    "A board lost a label, and so did its cards.",
    &record_of<Label>,
    at::board};
inline constexpr EventKind property_created{
    "property.created",
    "property",
    "A board got another property.",
    &record_of<PropertyDefinition>,
    at::board};
inline constexpr EventKind property_updated{
    "property.updated",
    "property",
    "A property has another name, place or format, or other options; cards follow within moments.",
    &record_of<PropertyDefinition>,
    at::board};
inline constexpr EventKind property_deleted{
    "property.deleted",
    "property",
    "A board lost a property, and its cards their values of it.",
    &record_of<PropertyDefinition>,
    at::board};
inline constexpr EventKind card_created{
    "card.created",
    "card",
    "A card was made.",
    &record_of<Card>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind card_updated{
    "card.updated",
    "card",
    "Something about a card changed, but for its place.",
    &record_of<Card>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind card_assigned{
    "card.assigned",
    "card",
    "A card has other assignees.",
    &record_of<Card>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind card_moved{
    "card.moved",
    "card",
    "A card stands elsewhere.",
    &record_of<Card>,
    at::board | at::column | at::card | at::move,
    Subject::read};
inline constexpr EventKind card_archived{
    "card.archived",
    "card",
    "A card was archived.",
    &record_of<Card>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind card_restored{
    "card.restored",
    "card",
    "A card was brought back.",
    &record_of<Card>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind card_deleted{
    "card.deleted",
    "card",
    "A card was put into the trash.",
    &record_of<Card>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind card_blocked{
    "card.blocked",
    "card",
    "A card has to wait for another.",
    &record_of<Card>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind card_unblocked{
    "card.unblocked",
    "card",
    "A card no longer has to wait for any other.",
    &record_of<Card>,
    at::board | at::column | at::card,
    Subject::read};
inline constexpr EventKind card_linked{
    "card.linked",
    "card_link",
    "Two cards were linked.",
    &record_of<CardLink>,
    at::board | at::card};
inline constexpr EventKind card_unlinked{
    "card.unlinked",
    "card_link",
    "Two cards were unlinked.",
    &record_of<CardLink>,
    at::board | at::card};
// They were gone for everybody already: for the audit record alone.
inline constexpr EventKind board_purged{
    "board.purged", "board", "A board was removed from the trash for good."};
inline constexpr EventKind card_purged{
    "card.purged", "card", "A card was removed from the trash for good."};
// Who looks is nobody else's business: for the audit record alone.
inline constexpr EventKind card_watched{"card.watched", "card", "Somebody watches a card."};
inline constexpr EventKind card_unwatched{
    "card.unwatched", "card", "Somebody no longer watches a card."};

}  // namespace svc::boards
