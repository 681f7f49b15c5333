# What needs the plug-in librill_cuda.so: tests/cuda, the conformance table on
# the GPU, benchmarks/cuda. All of it says so and ends well where there is no GPU;
# ctest then counts the tests as skipped.

# The last line of a run in which every case was skipped.
set(all_were_skipped "\\[  PASSED  \\] 0 tests")

if(RILL_BUILD_TESTS)
  # As a user's program: librill.so, which finds the plug-in beside it.
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cuda/*.cc")
  add_executable(cuda_test ${sources})
  set_target_properties(cuda_test PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_link_libraries(cuda_test PRIVATE rill rill_warnings GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_options(cuda_test PRIVATE $<$<CONFIG:Release>:-O1>)
  add_dependencies(cuda_test rill_cuda)
  add_test(NAME cuda COMMAND cuda_test --gtest_brief=1)
  set_tests_properties(cuda PROPERTIES
    LABELS cuda TIMEOUT 300 SKIP_REGULAR_EXPRESSION "${all_were_skipped}")

  # The table reaches hidden symbols, so here library and plug-in are one program.
  add_executable(op_conformance_gpu_test ${conformance_on_gpu} $<TARGET_OBJECTS:rill_cuda_objects>)
  rill_set_test_flags(op_conformance_gpu_test)
  target_link_libraries(op_conformance_gpu_test PRIVATE op_conformance_rows rill_objects)
  set_target_properties(op_conformance_gpu_test PROPERTIES
    LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_compile_definitions(op_conformance_gpu_test PRIVATE
    RILL_WITH_CUDA=1 RILL_ALL_CUDA_KERNELS=1)
  target_link_libraries(op_conformance_gpu_test PRIVATE CUDA::cudart_static CUDA::cublas CUDA::cublasLt ${CMAKE_DL_LIBS})
  add_test(NAME op_conformance_gpu
           COMMAND op_conformance_gpu_test --gtest_filter=*OnGpu* --gtest_brief=1)
  set_tests_properties(op_conformance_gpu PROPERTIES
    LABELS cuda TIMEOUT 600 ENVIRONMENT "${rill_test_environment}"
    SKIP_REGULAR_EXPRESSION "${all_were_skipped}")
  # Of the registry alone: which ops have kernels.
  add_test(NAME gpu_ops COMMAND op_conformance_gpu_test --gtest_filter=GpuOps.* --gtest_brief=1)
  set_tests_properties(gpu_ops PROPERTIES
    LABELS cuda TIMEOUT 120 ENVIRONMENT "${rill_test_environment}")
endif()

if(RILL_BUILD_BENCHMARKS)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/benchmarks/cuda/*.cc")
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    add_executable(bench_cuda_${name} "${source}")
    set_target_properties(bench_cuda_${name} PROPERTIES
      OUTPUT_NAME cuda_${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/benchmarks")
    if(name STREQUAL "captured_step")  # reaches into the device: one program with the plug-in
      target_sources(bench_cuda_${name} PRIVATE $<TARGET_OBJECTS:rill_cuda_objects>)
      set_target_properties(bench_cuda_${name} PROPERTIES LINKER_LANGUAGE CXX)
      target_include_directories(bench_cuda_${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
      target_link_libraries(bench_cuda_${name} PRIVATE
        rill_objects rill_warnings CUDA::cudart_static CUDA::cublas CUDA::cublasLt
        ${CMAKE_DL_LIBS})
    else()
      target_link_libraries(bench_cuda_${name} PRIVATE rill rill_warnings)
      add_dependencies(bench_cuda_${name} rill_cuda)
    endif()
  endforeach()
endif()
