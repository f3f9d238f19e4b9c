# Faster builds where the tools are there; nothing here is needed.
find_program(SVC_CCACHE ccache)
if(SVC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are cached by content; time macros are not used. Paths count from the
  # project's folder, so that another clone finds what this one compiled. What a file was compiled
  # from is told by its dependencies, not by the preprocessor: to that, headers that differ in a
  # comment are the same, but GCC takes them for two when one is in a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 ${SVC_CCACHE})
  add_compile_options(-fpch-preprocess)
endif()
find_program(SVC_MOLD mold)
if(SVC_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
