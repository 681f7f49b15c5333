# A compiler cache and a quick linker, where they are installed.

find_program(RILL_CCACHE ccache)
if(RILL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/tools/ccache_launcher")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${RILL_CCACHE}")
endif()

include(CheckLinkerFlag)
foreach(linker mold lld)
  check_linker_flag(CXX "-fuse-ld=${linker}" RILL_HAS_${linker})
  if(RILL_HAS_${linker})
    add_link_options("-fuse-ld=${linker}")
    break()
  endif()
endforeach()
