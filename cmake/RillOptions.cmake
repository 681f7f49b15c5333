# What a builder may choose. Inside another project only the library is built.

option(RILL_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(RILL_BUILD_EXAMPLES "Build the example programs" ${PROJECT_IS_TOP_LEVEL})
option(RILL_BUILD_BENCHMARKS "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(RILL_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(RILL_INSTALL "Make the install rules" ${PROJECT_IS_TOP_LEVEL})

# Both make a build from nothing quick. A tool that wants each file for itself turns them off.
option(RILL_PRECOMPILE "Precompile the headers that most files include" ON)
option(RILL_UNITY "Compile the files of a folder a few at a time" ON)

# RILL_WITH_ONEDNN is declared in RillDependencies, beside what looks for it.

set(RILL_PARALLEL "openmp" CACHE STRING "What runs parallel loops: openmp or threads")
set_property(CACHE RILL_PARALLEL PROPERTY STRINGS openmp threads)
if(NOT RILL_PARALLEL MATCHES "^(openmp|threads)$")
  message(FATAL_ERROR "RILL_PARALLEL is \"${RILL_PARALLEL}\"; expected openmp or threads")
endif()

set(RILL_SANITIZE "" CACHE STRING "Argument of -fsanitize=, such as address,undefined")
set(RILL_TEST_OBJECTS "" CACHE PATH
    "A build folder without sanitizer, whose compiled tests and examples are linked here")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
