# The suites that ask the database most, once more with other plans for the same statements: what
# they answer may not hang on plans, nor what a statement costs on what is known of its tables
# (docs/decisions/0018). tests/support/plans.hpp says what the variables mean.
#
# All of every suite under every variant is `./test long`; a share of each under two is part of
# every `./test`.
set(plan_suites auth agents boards content files queue)

# One suite as one test: its name, and VARIABLE=value for it.
function(svc_plans_test name suite)
  cmake_parse_arguments(arg "LONG" "SETUP;REQUIRED" "FILTER;ENVIRONMENT" ${ARGN})
  list(JOIN arg_FILTER ":" filter)
  add_test(NAME plans.${name}.${suite}
           COMMAND ${CMAKE_SOURCE_DIR}/tests/plans.sh $<TARGET_FILE:unit_${suite}> ${filter}
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(plans.${name}.${suite} PROPERTIES TIMEOUT 1200 ENVIRONMENT "${arg_ENVIRONMENT}")
  if(arg_LONG)
    set_tests_properties(plans.${name}.${suite} PROPERTIES LABELS long)
  endif()
  if(arg_SETUP)
    set_tests_properties(plans.${name}.${suite} PROPERTIES FIXTURES_SETUP ${arg_SETUP})
  endif()
  if(arg_REQUIRED)
    set_tests_properties(plans.${name}.${suite} PROPERTIES FIXTURES_REQUIRED ${arg_REQUIRED})
  endif()
endfunction()

# What is about time, needs no database, or is about plans itself says nothing here.
set(plan_filter_auth "*-Stopwatch.*:Throttle.*")
set(plan_filter_agents "*-Accounts.*:TokenText.*")
set(plan_filter_boards "*")
set(plan_filter_content
    "*-YoungDatabase.*:ContentCost.*:Search.AWordThatEverythingHas*:Search.TheLatestAreFound*")
set(plan_filter_files "*")
set(plan_filter_queue "*")

set(plan_variants
    "without_nested_loops enable_nestloop=off"
    "without_hash_joins enable_hashjoin=off"
    "without_merge_joins enable_mergejoin=off"
    "without_index_scans enable_seqscan=on,enable_bitmapscan=on,enable_indexscan=off,enable_indexonlyscan=off"
    "with_all_scans enable_seqscan=on,enable_bitmapscan=on"
    "joined_as_written join_collapse_limit=1,from_collapse_limit=1"
    "planned_each_time plan_cache_mode=force_custom_plan"
    "planned_by_chance plan_cache_mode=auto"
    "freshly_analyzed statistics=fresh"
    "freshly_analyzed_without_nested_loops statistics=fresh,enable_nestloop=off"
    "wrongly_analyzed statistics=skewed")

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/plan-costs)
foreach(suite ${plan_suites})
  set(costs ${CMAKE_BINARY_DIR}/plan-costs/${suite})
  svc_plans_test(usual ${suite} LONG SETUP costs_of_${suite} FILTER ${plan_filter_${suite}}
                 ENVIRONMENT SVC_COSTS_TO=${costs})
  foreach(variant ${plan_variants})
    string(REPLACE " " ";" variant ${variant})
    list(GET variant 0 name)
    list(GET variant 1 plans)
    svc_plans_test(${name} ${suite} LONG REQUIRED costs_of_${suite} FILTER ${plan_filter_${suite}}
                   ENVIRONMENT SVC_PLANS=${plans} SVC_COSTS_OF=${costs})
  endforeach()
endforeach()

# The short form: those two under which most that hung on plans was found, and of each suite what
# asks for most at once, in some ten seconds.
set(plan_share_auth "Statistics.*:Sessions.WorkInTheNamedWorkspace*:Sessions.SeeAChangedRole*")
set(plan_share_agents "Grants.Confine*:Grants.GoWithTheSeat:Grants.Widen*:TokenChanges.TheOwner*")
set(plan_share_boards "Moving.*:Links.*:Archiving.*")
set(plan_share_content
    "Blocks.*:Comments.*:Search.*-Blocks.OfACardHoldSixteen*:Search.AWordThat*:Search.TheLatestAre*")
set(plan_share_files "Sharing.WhatHangs*:Sharing.AttachmentsAre*:Deleting.ADeleted*:Sharing.WorkspacesKnow*")
set(plan_share_queue "Claiming.*:Endings.ABoardThatIsArchived*:Endings.ATokenThat*-Claiming.SixteenThreads*")
foreach(suite ${plan_suites})
  svc_plans_test(share.freshly_analyzed_without_nested_loops ${suite} FILTER ${plan_share_${suite}}
                 ENVIRONMENT SVC_PLANS=statistics=fresh,enable_nestloop=off)
  svc_plans_test(share.without_index_scans ${suite} FILTER ${plan_share_${suite}}
                 ENVIRONMENT SVC_PLANS=statistics=skewed,enable_seqscan=on,enable_bitmapscan=on,enable_indexscan=off,enable_indexonlyscan=off)
endforeach()
