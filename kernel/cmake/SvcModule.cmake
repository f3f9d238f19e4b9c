# The digest of the kernel's public headers is the ABI: a module built against other
# headers does not load.
file(GLOB_RECURSE svc_public_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernel/include/svc/*.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${svc_public_headers})
set(svc_digests "")
foreach(header ${svc_public_headers})
  file(SHA1 ${header} digest)
  string(APPEND svc_digests ${digest})
endforeach()
string(SHA1 svc_abi "${svc_digests}")
string(SUBSTRING ${svc_abi} 0 12 svc_abi)
# In a file of its own, so that a changed header compiles again only what includes it.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/svc/abi.hpp
     CONTENT "#pragma once\n#define SVC_ABI ${svc_abi}\n")

# svc_pack_migrations(<out.cpp> <symbol> <folder>): packs a folder's .sql files, in the order
# of their numbers, into one C string; db::unpack_migrations() reads it.
function(svc_pack_migrations out symbol folder)
  file(GLOB steps CONFIGURE_DEPENDS ${folder}/*.sql)
  list(SORT steps)
  set(text "")
  foreach(step ${steps})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${step})
    get_filename_component(name ${step} NAME)
    file(READ ${step} sql)
    string(APPEND text "\nR\"svcsql(--@migration ${name}\n${sql}\n)svcsql\"")
  endforeach()
  if(text STREQUAL "")
    set(text "\"\"")
  endif()
  file(CONFIGURE OUTPUT ${out} CONTENT
       "extern \"C\" {\nextern const char ${symbol}[];\nconst char ${symbol}[] =${text};\n}\n" @ONLY)
endfunction()

# svc_use_pch(<target> [<header>]): the target's own precompiled header, or what all modules share;
# what that was compiled with has to agree.
function(svc_use_pch target)
  target_compile_definitions(${target} PRIVATE SVC_VERSION="${PROJECT_VERSION}")
  if(NOT SVC_PCH)
    return()
  endif()
  if(ARGN)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM module_pch)
  endif()
endfunction()

# svc_inline_less(<target>): what requests spend most of their time in is the kernel's. In modules'
# code larger functions than these, inlined, cost a tenth of the compile time, and nothing that
# could be measured of a request's.
function(svc_inline_less target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-mllvm -inline-threshold=50")
  endif()
endfunction()

# svc_library(<name> [FROM <folders…>] [LINK <libraries…>]): what other modules link or tests look
# at by itself, as a static library: every .cpp in those folders, or in the one it is called in.
function(svc_library name)
  cmake_parse_arguments(ARG "" "" "FROM;LINK" ${ARGN})
  set(patterns *.cpp)
  if(ARG_FROM)
    list(TRANSFORM ARG_FROM APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set_property(DIRECTORY APPEND PROPERTY svc_library_sources ${sources})
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC kernel ${ARG_LINK})
  svc_inline_less(${name})
  svc_use_pch(${name})
endfunction()

# svc_module([PRECOMPILE] [LINK <libraries…>]): the folder it is called in, as a loadable module of
# that name: every .cpp in it and its folders that is in none of its libraries, and its migrations.
# PRECOMPILE: its files share its precompiled.hpp.
function(svc_module)
  cmake_parse_arguments(ARG "PRECOMPILE" "" "LINK" ${ARGN})
  get_filename_component(name ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp */*.cpp)
  get_property(elsewhere DIRECTORY PROPERTY svc_library_sources)
  list(REMOVE_ITEM sources ${elsewhere})
  svc_pack_migrations(${CMAKE_CURRENT_BINARY_DIR}/migrations.cpp svc_migrations
                      ${CMAKE_CURRENT_SOURCE_DIR}/migrations)
  add_library(${name} MODULE ${sources} ${CMAKE_CURRENT_BINARY_DIR}/migrations.cpp)
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY
                        ${CMAKE_BINARY_DIR}/lib/modules)
  set_property(GLOBAL APPEND PROPERTY svc_modules ${name})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE kernel ${ARG_LINK})
  svc_inline_less(${name})
  # What sanitizers need is in the program alone.
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/migrations.cpp PROPERTIES
                              SKIP_PRECOMPILE_HEADERS ON)
  if(ARG_PRECOMPILE)
    svc_use_pch(${name} "<modules/${name}/precompiled.hpp>")
    # They compile the descriptions of headers that the precompiled one has read already.
    file(GLOB records CONFIGURE_DEPENDS records.cpp */records.cpp)
    set_source_files_properties(${records} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  else()
    svc_use_pch(${name})
  endif()
endfunction()
