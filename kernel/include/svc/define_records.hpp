#pragma once

/// Of the headers included behind this one, the descriptions are compiled here. What belongs to
/// somebody else is included in front of it.

#include "svc/record.hpp"

#undef SVC_SHARED_RECORD
#define SVC_SHARED_RECORD(Type, ...) SVC_DESCRIPTION(, Type, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))
