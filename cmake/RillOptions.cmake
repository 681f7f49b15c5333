# What a builder may choose. Inside another project only the library is built.

option(RILL_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(RILL_BUILD_EXAMPLES "Build the example programs" ${PROJECT_IS_TOP_LEVEL})
option(RILL_BUILD_BENCHMARKS "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(RILL_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(RILL_INSTALL "Make the install rules" ${PROJECT_IS_TOP_LEVEL})

# RILL_WITH_ONEDNN is declared in RillDependencies: its default depends on what is found.

set(RILL_PARALLEL "openmp" CACHE STRING "What runs parallel loops: openmp or threads")
set_property(CACHE RILL_PARALLEL PROPERTY STRINGS openmp threads)
if(NOT RILL_PARALLEL MATCHES "^(openmp|threads)$")
  message(FATAL_ERROR "RILL_PARALLEL is \"${RILL_PARALLEL}\"; expected openmp or threads")
endif()

set(RILL_SANITIZE "" CACHE STRING "Argument of -fsanitize=, such as address,undefined")

# One ctest test a case tells most; one a binary starts far fewer processes,
# which under a sanitizer is most of the time.
set(RILL_CTEST_UNIT "case" CACHE STRING "What ctest counts as one test: case or binary")
set_property(CACHE RILL_CTEST_UNIT PROPERTY STRINGS case binary)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
