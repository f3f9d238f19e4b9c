# svc_discover_suites(<program> <name> [PROPERTIES <property> <value>[,<value>…]…]): after the
# program is linked, asks it for its suites, and makes each one test of ctest: <name>.<suite>. A suite
# runs in one process, so what its tests share (a server, a database) is started once. Long suites start
# first: those in `svc_waiting_suites`, then those in `svc_long_suites`, and of the others those with the
# most tests. What those in `svc_suites_alone` measure, nothing else may disturb; those in
# `svc_suites_left_out` are part of `./test long` alone.
set(svc_suites_script ${CMAKE_CURRENT_LIST_DIR}/list_suites.cmake)
function(svc_discover_suites program name)
  cmake_parse_arguments(ARG "" "" "PROPERTIES" ${ARGN})
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
  string(REPLACE ";" " " properties "${ARG_PROPERTIES}")
  add_custom_command(TARGET ${program} POST_BUILD BYPRODUCTS ${list} VERBATIM
    COMMAND ${CMAKE_COMMAND} -D program=$<TARGET_FILE:${program}> -D name=${name} -D list=${list}
            -D folder=${CMAKE_SOURCE_DIR} "-D properties=${properties}" "-D alone=${svc_suites_alone}"
            "-D waiting=${svc_waiting_suites}" "-D long=${svc_long_suites}"
            "-D left_out=${svc_suites_left_out}" -P ${svc_suites_script})
  file(WRITE ${list}.include
       "if(EXISTS \"${list}\")\n  include(\"${list}\")\nelse()\n  add_test(${name} ${name}-is-not-built)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${list}.include)
endfunction()
