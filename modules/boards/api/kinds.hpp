#pragma once

#include <boost/describe/enum.hpp>

/// The kinds and states that boards, columns and cards have (contract 6.17 to 6.19).
namespace svc::boards {

enum class Visibility { org, private_ };
BOOST_DESCRIBE_ENUM(Visibility, org, private_)

/// Rights rise from viewer to admin, so that roles compare with <.
enum class BoardRole { viewer, editor, admin };
BOOST_DESCRIBE_ENUM(BoardRole, viewer, editor, admin)

enum class ColumnKind { backlog, queue, active, done };
BOOST_DESCRIBE_ENUM(ColumnKind, backlog, queue, active, done)

enum class WipPolicy { soft, hard };
BOOST_DESCRIBE_ENUM(WipPolicy, soft, hard)

enum class QueueOrder { priority, fifo, due };
BOOST_DESCRIBE_ENUM(QueueOrder, priority, fifo, due)

enum class QueueState { idle, ready, leased, backoff, exhausted, held };
BOOST_DESCRIBE_ENUM(QueueState, idle, ready, leased, backoff, exhausted, held)

enum class Priority { none, low, medium, high, urgent };
BOOST_DESCRIBE_ENUM(Priority, none, low, medium, high, urgent)

enum class LinkType { blocks, relates, duplicates };
BOOST_DESCRIBE_ENUM(LinkType, blocks, relates, duplicates)

}  // namespace svc::boards
