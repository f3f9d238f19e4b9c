#pragma once

/// Whether a card of the workspace $1 has a link from one that blocks it and is open, as a part of
/// a statement: a literal. Looked up by key, card by card.
#define SVC_HAS_OPEN_BLOCKER(card)                                                        \
    "EXISTS (SELECT FROM card_links l CROSS JOIN LATERAL (SELECT FROM cards o WHERE "     \
    "o.org_id = $1 AND o.id = l.card_id AND card_is_open(o.completed_at, o.is_archived, " \
    "o.in_trash) OFFSET 0) x WHERE l.org_id = $1 AND l.target_id = " card                 \
    " AND l.kind = 'blocks' OFFSET 0)"
