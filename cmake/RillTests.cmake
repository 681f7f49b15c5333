# rill/F/**/*_test.cc -> F_test;  tests/D/*.cc -> D_test;  tests/consumer stands alone.

find_package(GTest REQUIRED)

# Headers are most of what a small test compiles: once for all. Tests of the lower
# rooms get GoogleTest's alone, so that a change of keras/ does not compile them again.
function(rill_add_test_headers target)
  rill_write_empty_source(${target})
  add_library(${target} OBJECT "${PROJECT_BINARY_DIR}/${target}.cc")
  target_precompile_headers(${target} PRIVATE ${ARGN})
  rill_set_test_flags(${target})
endfunction()
set(rooms_below_keras base core io kernels ops eager)

# Tests run once and compile often.
function(rill_set_test_flags target)
  target_link_libraries(${target} PRIVATE
    rill_settings rill_warnings GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
endfunction()
if(NOT RILL_TEST_OBJECTS)
  rill_add_test_headers(rill_test_headers <gtest/gtest.h> <gmock/gmock.h>)
  rill_add_test_headers(rill_upper_test_headers
    <gtest/gtest.h> <gmock/gmock.h> "${PROJECT_SOURCE_DIR}/rill/rill.h")
endif()

# Under the address sanitizer tests need no instrumentation of their own: it is the library's
# accesses that count. They are compiled once, by the build without it, and linked here behind the
# library's objects, so that of inline functions which both have the library's are taken.
function(rill_add_borrowed name folder)
  set(objects "")
  foreach(source ${ARGN})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    list(APPEND objects "${RILL_TEST_OBJECTS}/CMakeFiles/${folder}.dir/${path}.o")
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_library(${name} STATIC ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

set(rill_test_environment "RILL_SOURCE_DIR=${PROJECT_SOURCE_DIR}")

# One ctest test per binary: a process per case would cost more than most cases do.
# Long binaries are cut, so that all cores have work to the end. Each part writes a
# report, which tools/test_report and tools/features read.
set(shards_of_op_conformance 8)
set(shards_of_keras 4)
set(shards_of_keras_layer_contract 2)
set(shards_of_keras_layers 2)
set(shards_of_graph_def 2)
set(shards_of_graph 2)

function(rill_add_test name label)
  # Tests of kernels instantiate loops, which are to be watched.
  if(RILL_TEST_OBJECTS AND NOT label STREQUAL "kernels")
    rill_add_borrowed(${name}_code ${name} ${ARGN})
    rill_write_empty_source(${name})
    add_executable(${name} "${PROJECT_BINARY_DIR}/${name}.cc")
    target_link_libraries(${name} PRIVATE rill_objects
      $<LINK_LIBRARY:WHOLE_ARCHIVE,${name}_code>)
  else()
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE rill_objects)
  endif()
  rill_set_test_flags(${name})
  if(RILL_PRECOMPILE AND NOT RILL_TEST_OBJECTS)
    if(label IN_LIST rooms_below_keras)
      target_precompile_headers(${name} REUSE_FROM rill_test_headers)
    else()
      target_precompile_headers(${name} REUSE_FROM rill_upper_test_headers)
    endif()
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  # Shards of one binary report together only in the end, so names tell them apart.
  set(shards ${shards_of_${label}})
  if(NOT shards)
    set(shards 1)
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(test ${label})
    if(shards GREATER 1)
      set(test ${label}.${shard})
    endif()
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1
             "--gtest_output=xml:${PROJECT_BINARY_DIR}/reports/${test}.xml")
    set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 1500
      ENVIRONMENT "${rill_test_environment};GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
  endforeach()
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
# Tests of loops instantiate them, so they are compiled as the kernels are. A header that
# was precompiled at another level of optimisation crashes GCC 12.
set(kernel_tests ${unit_tests})
list(FILTER kernel_tests INCLUDE REGEX "/rill/kernels/")
set_source_files_properties(${kernel_tests} PROPERTIES
  COMPILE_OPTIONS "${kernel_flags}" SKIP_PRECOMPILE_HEADERS ON)
rill_add_tests_below("${PROJECT_SOURCE_DIR}/rill" ${unit_tests})

file(GLOB crossing_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/*.cc")
list(FILTER crossing_tests EXCLUDE REGEX "/tests/(consumer|cuda)/")
# The table of ops is compiled once, for the tests of every device.
set(conformance_rows ${crossing_tests})
list(FILTER conformance_rows INCLUDE REGEX "/tests/op_conformance/")
list(FILTER conformance_rows EXCLUDE REGEX "(_test|/gpu_ops)\\.cc$")
list(REMOVE_ITEM crossing_tests ${conformance_rows})
if(RILL_TEST_OBJECTS)
  rill_add_borrowed(op_conformance_rows op_conformance_rows ${conformance_rows})
else()
  add_library(op_conformance_rows OBJECT ${conformance_rows})
  rill_set_test_flags(op_conformance_rows)
  if(RILL_PRECOMPILE)
    target_precompile_headers(op_conformance_rows REUSE_FROM rill_upper_test_headers)
  endif()
endif()
rill_add_tests_below("${PROJECT_SOURCE_DIR}/tests" ${crossing_tests})
if(RILL_TEST_OBJECTS)
  target_link_libraries(op_conformance_test PRIVATE
    $<LINK_LIBRARY:WHOLE_ARCHIVE,op_conformance_rows>)
else()
  target_link_libraries(op_conformance_test PRIVATE op_conformance_rows)
endif()
# What a test of the table on another device adds to its rows.
file(GLOB conformance_on_gpu "${PROJECT_SOURCE_DIR}/tests/op_conformance/conformance_test.cc"
     "${PROJECT_SOURCE_DIR}/tests/op_conformance/gpu_ops.cc")

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
