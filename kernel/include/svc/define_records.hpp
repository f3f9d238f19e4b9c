#pragma once

/// Of the headers included behind this one, the descriptions are compiled here. What belongs to
/// somebody else is included in front of it; the kernel's own is, unless the kernel itself says
/// SVC_RECORDS_OF_KERNEL.

#include "svc/record.hpp"
#ifndef SVC_RECORDS_OF_KERNEL
#include "svc/kernel.hpp"
#include "svc/rate_limit.hpp"
#include "svc/spacing.hpp"
#include "svc/workspace_jobs.hpp"
#endif

#undef SVC_SHARED_RECORD
#define SVC_SHARED_RECORD(Type, ...) SVC_DESCRIPTION(, Type, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))
