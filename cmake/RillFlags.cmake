# How every file is compiled. The options hang on two interface targets, never
# on global variables, so that a project which includes Rill keeps its own.

# Language and numbers: for the library, its tests and its benchmarks.
add_library(rill_flags INTERFACE)
target_compile_features(rill_flags INTERFACE cxx_std_20)
target_include_directories(rill_flags INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
target_compile_options(rill_flags INTERFACE
  -fvisibility=hidden
  -fvisibility-inlines-hidden
  -fno-semantic-interposition  # calls inside the library need not go through the PLT
  -ffp-contract=off            # the same numbers with and without FMA
  -fno-math-errno)             # nothing reads errno after sqrt
target_compile_definitions(rill_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

# Warnings: for our own code, examples included.
add_library(rill_warnings INTERFACE)
target_compile_options(rill_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow=local -Wnon-virtual-dtor -Woverloaded-virtual
  # Options structs are filled by designated initialisers; the rest keeps its default.
  -Wno-missing-field-initializers
  $<$<BOOL:${RILL_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC's flow warnings have false alarms in its own headers (std::string + literal,
  # vector growth); they are shown, but do not stop the build.
  target_compile_options(rill_warnings INTERFACE
    -Wno-restrict
    -Wno-error=maybe-uninitialized -Wno-error=array-bounds
    -Wno-error=stringop-overflow -Wno-error=stringop-overread
    -Wno-error=free-nonheap-object -Wno-error=dangling-pointer)
endif()

if(RILL_SANITIZE)
  target_compile_options(rill_flags INTERFACE
    -fsanitize=${RILL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rill_flags INTERFACE -fsanitize=${RILL_SANITIZE})
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  include(RillFasterBuild)
endif()
