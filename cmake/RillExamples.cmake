# examples/*.cc: one program each, linked with librill.so as a user would, and
# run by ctest in its own folder, where it may write what it likes. Where there is
# examples/expected/NAME.txt, what it prints is compared with that, line by line.

# Real data, where it is beside the repository.
set(example_environment "RILL_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
if(EXISTS "${PROJECT_SOURCE_DIR}/../shared/data" AND NOT DEFINED ENV{RILL_DATA_DIR})
  list(APPEND example_environment "RILL_DATA_DIR=${PROJECT_SOURCE_DIR}/../shared/data")
endif()
# Long trainings take a few steps here; `make nightly` runs them as long as the guides do.
set(long_examples mnist_cnn mnist_cnn_file text_generation train_function)

# As users compile them, except for the optimiser: the library does the work.
function(rill_set_example_flags target)
  target_link_libraries(${target} PRIVATE rill rill_warnings)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(RILL_SANITIZE)
    target_link_libraries(${target} PRIVATE rill_flags)
  endif()
endfunction()
if(RILL_PRECOMPILE AND NOT RILL_TEST_OBJECTS)
  rill_write_empty_source(rill_example_headers)
  add_library(rill_example_headers OBJECT "${PROJECT_BINARY_DIR}/rill_example_headers.cc")
  rill_set_example_flags(rill_example_headers)
  target_precompile_headers(rill_example_headers PRIVATE "${PROJECT_SOURCE_DIR}/rill/rill.h")
endif()

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cc")
file(GLOB expected_outputs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/expected/*.txt")
foreach(source ${sources})
  cmake_path(GET source STEM name)
  if(RILL_TEST_OBJECTS)  # see RillTests
    set(object "${RILL_TEST_OBJECTS}/CMakeFiles/example_${name}.dir/examples/${name}.cc.o")
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_executable(example_${name} "${object}")
    set_target_properties(example_${name} PROPERTIES LINKER_LANGUAGE CXX)
  else()
    add_executable(example_${name} "${source}")
  endif()
  rill_set_example_flags(example_${name})
  if(RILL_PRECOMPILE AND NOT RILL_TEST_OBJECTS)
    target_precompile_headers(example_${name} REUSE_FROM rill_example_headers)
  endif()
  set_target_properties(example_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")

  set(folder "${PROJECT_BINARY_DIR}/examples/run/${name}")
  file(MAKE_DIRECTORY "${folder}")
  set(environment "${example_environment}")
  if(RILL_SANITIZE OR name IN_LIST long_examples)
    list(APPEND environment "RILL_QUICK=1")
  endif()
  set(expected "${PROJECT_SOURCE_DIR}/examples/expected/${name}.txt")
  set(run_and_compare "")
  if(EXISTS "${expected}")
    set(run_and_compare "${PROJECT_SOURCE_DIR}/tools/run_example" "${expected}")
  endif()
  add_test(NAME examples.${name} COMMAND ${run_and_compare} $<TARGET_FILE:example_${name}>
           WORKING_DIRECTORY "${folder}")
  set_tests_properties(examples.${name} PROPERTIES
    LABELS examples TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "${environment}")
endforeach()

# The right-hand column of docs/porting.md as a program.
set(page "${PROJECT_SOURCE_DIR}/docs/porting.md")
set(program "${PROJECT_BINARY_DIR}/examples/porting.cc")
add_custom_command(OUTPUT "${program}"
  COMMAND "${PROJECT_SOURCE_DIR}/tools/porting_program" docs/porting.md > "${program}"
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  DEPENDS "${page}" "${PROJECT_SOURCE_DIR}/tools/porting_program")
add_executable(porting "${program}")
set_target_properties(porting PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
target_compile_options(porting PRIVATE -O0 -Wno-unused)
target_link_libraries(porting PRIVATE rill)
if(RILL_SANITIZE)
  target_link_libraries(porting PRIVATE rill_flags)
endif()
add_test(NAME docs.porting COMMAND porting)
set_tests_properties(docs.porting PROPERTIES LABELS examples TIMEOUT 300)
