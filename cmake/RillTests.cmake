# rill/F/**/*_test.cc -> F_test;  tests/D/*.cc -> D_test;  tests/consumer stands alone.

include(GoogleTest)
find_package(GTest REQUIRED)

# GoogleTest's headers are most of what a small test compiles: once for all.
file(WRITE "${PROJECT_BINARY_DIR}/test_headers.cc.new" "")
file(COPY_FILE "${PROJECT_BINARY_DIR}/test_headers.cc.new" "${PROJECT_BINARY_DIR}/test_headers.cc"
     ONLY_IF_DIFFERENT)
add_library(rill_test_headers OBJECT "${PROJECT_BINARY_DIR}/test_headers.cc")
target_precompile_headers(rill_test_headers PRIVATE <gtest/gtest.h> <gmock/gmock.h>)

# Tests run once and compile often.
function(rill_set_test_flags target)
  target_link_libraries(${target} PRIVATE
    rill_objects rill_warnings GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
endfunction()
rill_set_test_flags(rill_test_headers)

set(rill_test_environment "RILL_SOURCE_DIR=${PROJECT_SOURCE_DIR}")

function(rill_add_test name label)
  add_executable(${name} ${ARGN})
  rill_set_test_flags(${name})
  target_precompile_headers(${name} REUSE_FROM rill_test_headers)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  if(RILL_CTEST_UNIT STREQUAL "case")
    gtest_discover_tests(${name} TEST_PREFIX "${label}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS ${label} TIMEOUT 300 ENVIRONMENT "${rill_test_environment}")
  else()
    add_test(NAME ${label} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${label} PROPERTIES
      LABELS ${label} TIMEOUT 1500 ENVIRONMENT "${rill_test_environment}")
  endif()
endfunction()

# The folder below `root` that holds each file names the binary; one glob a
# root, so that the first test of a new folder is seen without a new configure.
function(rill_add_tests_below root)
  set(files ${ARGN})
  set(folders "")
  foreach(file ${files})
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${root}" OUTPUT_VARIABLE path)
    string(REGEX MATCH "^[^/]+/" folder "${path}")
    if(folder)
      string(REPLACE "/" "" folder "${folder}")
      list(APPEND folders ${folder})
      list(APPEND sources_${folder} "${file}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    rill_add_test(${folder}_test ${folder} ${sources_${folder}})
  endforeach()
endfunction()

file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/rill/*_test.cc")
# Tests of loops instantiate them, so they are compiled as the kernels are.
set(kernel_tests ${unit_tests})
list(FILTER kernel_tests INCLUDE REGEX "/rill/kernels/")
set_source_files_properties(${kernel_tests} PROPERTIES COMPILE_OPTIONS "${kernel_flags}")
rill_add_tests_below("${PROJECT_SOURCE_DIR}/rill" ${unit_tests})

file(GLOB crossing_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/*.cc")
list(FILTER crossing_tests EXCLUDE REGEX "/tests/(consumer|cuda)/")
rill_add_tests_below("${PROJECT_SOURCE_DIR}/tests" ${crossing_tests})

# The consumer test builds a program against the installed library, as a user does.
if(NOT RILL_SANITIZE AND EXISTS "${PROJECT_SOURCE_DIR}/tests/consumer/run.sh")
  add_test(NAME consumer COMMAND "${PROJECT_SOURCE_DIR}/tests/consumer/run.sh"
           "${PROJECT_BINARY_DIR}" "${CMAKE_COMMAND}" "${CMAKE_CXX_COMPILER}")
  set_tests_properties(consumer PROPERTIES LABELS consumer TIMEOUT 600)
endif()

# What `make smoke` builds.
add_custom_target(smoke_tests)
foreach(room base core)
  if(TARGET ${room}_test)
    add_dependencies(smoke_tests ${room}_test)
  endif()
endforeach()
