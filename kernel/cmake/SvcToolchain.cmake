# Faster builds where the tools are there; nothing here is needed.
find_program(SVC_CCACHE ccache)
if(SVC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are cached by content; time macros are not used. What a file was compiled
  # from is told by its dependencies, not by the preprocessor: to that, headers that differ in a
  # comment are the same, but GCC takes them for two when one is in a precompiled header. Clang
  # writes the folder of a clone into such a header, so what one clone compiled serves another only
  # in the same place.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 ${SVC_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  else()
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()
find_program(SVC_MOLD mold)
if(SVC_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
