# Every file is compiled once. From the objects come librill.so, librill.a, and
# the test binaries, which so can reach hidden symbols. Kernels are a target of
# their own because their flags differ; what protoc writes, because it needs no care.

file(GLOB_RECURSE RILL_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/rill/*.cc")
list(FILTER RILL_SOURCES EXCLUDE REGEX "_test\\.cc$")
list(FILTER RILL_SOURCES EXCLUDE REGEX "/rill/kernels/cuda/")  # its own library: RillCuda
set(kernel_sources ${RILL_SOURCES})
list(FILTER kernel_sources INCLUDE REGEX "/rill/kernels/")
set(room_sources ${RILL_SOURCES})
list(FILTER room_sources EXCLUDE REGEX "/rill/kernels/")

# What the library's own files and whoever links their objects are compiled with.
add_library(rill_settings INTERFACE)
target_link_libraries(rill_settings INTERFACE rill_flags ${RILL_LINK_LIBRARIES})
# SYSTEM: warnings in these headers are not ours to fix.
target_include_directories(rill_settings SYSTEM INTERFACE
  "$<$<BOOL:${RILL_WITH_ONEDNN}>:${RILL_ONEDNN_INCLUDE}>"
  ${RILL_CURL_INCLUDE_DIRS} ${RILL_ARCHIVE_INCLUDE_DIRS})
target_compile_definitions(rill_settings INTERFACE
  $<$<BOOL:${RILL_WITH_ONEDNN}>:RILL_WITH_ONEDNN=1>
  $<$<STREQUAL:${RILL_PARALLEL},openmp>:RILL_PARALLEL_OPENMP=1>)

include(RillProtos)  # and what protoc writes
add_library(rill_room_objects OBJECT ${room_sources})
add_library(rill_kernel_objects OBJECT ${kernel_sources})
add_library(rill_proto_objects OBJECT ${RILL_PROTO_SOURCES})
foreach(objects rill_room_objects rill_kernel_objects rill_proto_objects)
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${objects} PUBLIC rill_settings PRIVATE rill_warnings)
  target_include_directories(${objects} SYSTEM PRIVATE "${proto_folder}")
  target_compile_definitions(${objects} PRIVATE RILL_BUILDING_LIBRARY)
  # __FILE__ is "rill/core/shape.cc": the library does not remember where it was built. (A compiler
  # cache that several checkouts share names files from the build folder.)
  target_compile_options(${objects} PRIVATE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=" -fmacro-prefix-map=../=)
endforeach()
add_dependencies(rill_room_objects rill_proto_objects)  # whose headers some rooms include

# All of them, for those who link objects rather than the library.
set(RILL_OBJECTS $<TARGET_OBJECTS:rill_room_objects> $<TARGET_OBJECTS:rill_kernel_objects>
    $<TARGET_OBJECTS:rill_proto_objects>)
add_library(rill_objects INTERFACE)
target_sources(rill_objects INTERFACE ${RILL_OBJECTS})
target_link_libraries(rill_objects INTERFACE rill_settings)

# Kernels are loops over numbers: let the compiler unroll and vectorise them.
# -fno-trapping-math changes no value; it lets comparisons be vectorised.
# CMake's Release is -O3; the rest of the library at -O2 is smaller and no slower.
target_compile_options(rill_room_objects PRIVATE $<$<CONFIG:Release>:-O2>)
set(kernel_flags "$<$<CONFIG:Release>:-O3>;-fno-trapping-math;-fopenmp-simd")
target_compile_options(rill_kernel_objects PRIVATE ${kernel_flags})

include(RillQuickBuild)
rill_precompile_core(rill_room_objects)
rill_precompile_core(rill_kernel_objects)
rill_compile_by_folder(rill_room_objects ${room_sources})

# Only this file knows the version, so that a new one rebuilds only this file.
set_source_files_properties("${PROJECT_SOURCE_DIR}/rill/base/version.cc" PROPERTIES
  COMPILE_DEFINITIONS "RILL_VERSION=\"${PROJECT_VERSION}\"")

# Small data sets, copied into the library by the assembler.
set(embedded "${PROJECT_SOURCE_DIR}/rill/keras/datasets/embedded")
file(GLOB embedded_files CONFIGURE_DEPENDS "${embedded}/*")
set_source_files_properties("${PROJECT_SOURCE_DIR}/rill/keras/datasets/embedded.cc" PROPERTIES
  COMPILE_DEFINITIONS "RILL_EMBEDDED_FOLDER=\"${embedded}\""
  OBJECT_DEPENDS "${embedded_files}")

add_library(rill SHARED)
add_library(Rill::rill ALIAS rill)
set_target_properties(rill PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}  # before 1.0 a minor version may break
  LINKER_LANGUAGE CXX)
target_sources(rill PRIVATE ${RILL_OBJECTS})
target_link_libraries(rill PRIVATE $<BUILD_INTERFACE:rill_flags> ${RILL_LINK_LIBRARIES})
target_link_options(rill PRIVATE -Wl,--as-needed)  # record no library that no object uses
if(NOT RILL_SANITIZE)
  target_link_options(rill PRIVATE -Wl,-z,defs)  # a missing definition is our fault, not the user's
endif()

add_library(rill_archive STATIC)
set_target_properties(rill_archive PROPERTIES OUTPUT_NAME rill LINKER_LANGUAGE CXX)
target_sources(rill_archive PRIVATE ${RILL_OBJECTS})
target_link_libraries(rill_archive PRIVATE $<BUILD_INTERFACE:rill_flags> ${RILL_LINK_LIBRARIES})

foreach(library rill rill_archive)
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endforeach()

# Ops register themselves, so a linker that takes from the archive only what is
# named would drop them: whoever links it takes the whole.
add_library(rill_static INTERFACE)
add_library(Rill::rill_static ALIAS rill_static)
target_link_libraries(rill_static INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,rill_archive>")
