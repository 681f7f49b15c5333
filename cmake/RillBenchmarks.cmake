# benchmarks/*.cc: one program each; `make bench` runs them, ctest does not.

find_package(benchmark QUIET)

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/benchmarks/*.cc")
set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${kernel_flags}")
foreach(source ${sources})
  cmake_path(GET source STEM name)
  add_executable(bench_${name} "${source}")
  set_target_properties(bench_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/benchmarks")
  target_link_libraries(bench_${name} PRIVATE rill_objects rill_warnings)
  if(benchmark_FOUND)
    target_link_libraries(bench_${name} PRIVATE benchmark::benchmark)
  endif()
endforeach()
