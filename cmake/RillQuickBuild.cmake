# What makes a cold build quick. Most of the time of a small file goes into the
# headers it includes, so they are read once for many files.

# A precompiled header with the standard library and core/, which nearly every file includes.
function(rill_precompile_core target)
  if(RILL_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/core_headers.h")
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
  endif()
endfunction()

# Files of one folder are compiled a few at a time, as one. A group is small, so
# that a changed op still compiles in seconds. Names in anonymous namespaces
# must differ within a folder.
function(rill_compile_by_folder target)
  if(NOT RILL_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes the files of a group for headers, where an anonymous type in a class would be wrong.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set(files_per_group 6)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(REPLACE "/" "_" folder "${folder}")
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${files_per_group}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${group}")
  endforeach()
endfunction()

# A source for a target that only makes a precompiled header for others.
function(rill_write_empty_source name)
  file(WRITE "${PROJECT_BINARY_DIR}/${name}.cc.new" "")
  file(COPY_FILE "${PROJECT_BINARY_DIR}/${name}.cc.new" "${PROJECT_BINARY_DIR}/${name}.cc"
       ONLY_IF_DIFFERENT)
endfunction()
