# The kernels of rill/kernels/cuda that are loops over elements, compiled as plain C++ and run
# through the conformance table on a stand-in for the GPU (tests/cuda/on_host): most of what can
# be wrong with a kernel is seen without a GPU. Files that launch blocks by hand (<<< >>>) are
# left out.

option(RILL_CUDA_ON_HOST "Run the element loops of the GPU plug-in on the host, too" OFF)
if(NOT RILL_BUILD_TESTS OR NOT RILL_CUDA_ON_HOST)
  return()
endif()
file(GLOB kernels CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/rill/kernels/cuda/*.cu")
set(on_host_sources "${PROJECT_SOURCE_DIR}/rill/kernels/cuda/kernel_error.cc")
foreach(kernel ${kernels})
  file(READ "${kernel}" text)
  if(NOT text MATCHES "<<<|cub/|cufft")
    cmake_path(GET kernel STEM name)
    # CMake knows .cu as CUDA, which may not be enabled.
    set(wrapper "${PROJECT_BINARY_DIR}/cuda_on_host/${name}.cc")
    file(CONFIGURE OUTPUT "${wrapper}" CONTENT "#include \"${kernel}\"\n")
    list(APPEND on_host_sources "${wrapper}")
  endif()
endforeach()
file(GLOB stand_ins CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cuda/on_host/*.cc")
list(APPEND on_host_sources ${stand_ins})

add_executable(cuda_on_host_test ${conformance_on_gpu} ${on_host_sources})
rill_set_test_flags(cuda_on_host_test)
target_link_libraries(cuda_on_host_test PRIVATE op_conformance_rows rill_objects)
set_target_properties(cuda_on_host_test PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
target_compile_definitions(cuda_on_host_test PRIVATE RILL_WITH_CUDA=1)
target_include_directories(cuda_on_host_test BEFORE PRIVATE
  "${PROJECT_SOURCE_DIR}/tests/cuda/on_host" "${PROJECT_SOURCE_DIR}/tests/op_conformance")
# The CPU's kernels are compiled so too: products are fused only where the code says so.
set_source_files_properties(${on_host_sources} PROPERTIES COMPILE_OPTIONS
  "-O1;-ffp-contract=off;-Wno-unused-parameter;-Wno-shadow;-Wno-attributes;-Wno-unknown-pragmas")
# No report: features are not shown by a stand-in.
add_test(NAME cuda_on_host COMMAND cuda_on_host_test --gtest_filter=*OnGpu* --gtest_brief=1)
set_tests_properties(cuda_on_host PROPERTIES
  LABELS cuda TIMEOUT 600 ENVIRONMENT "${rill_test_environment}")
