#pragma once

/// Who did it, a PrincipalRef under the name they had then, out of a row of the log.
#define SVC_ACTOR(row)                                                                             \
    "json_build_object('id', " row ".actor_id, 'principal_type', " row ".actor_type, 'name', " row \
    ".actor_name)"
