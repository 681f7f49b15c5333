# `make install`: public headers, both libraries, a CMake package, rill.pc.

if(NOT RILL_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

# Kernels, *_impl.h and anything named internal are not for users.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/rill" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING
  PATTERN "kernels" EXCLUDE
  PATTERN "*internal*" EXCLUDE
  PATTERN "*_impl.h" EXCLUDE
  PATTERN "*.h")

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Rill")
install(TARGETS rill EXPORT RillTargets)
install(TARGETS rill_archive EXPORT RillArchiveTargets)
# Two files: who wants the shared library must not need the packages of the archive.
install(EXPORT RillTargets NAMESPACE Rill:: DESTINATION "${package_folder}")
install(EXPORT RillArchiveTargets NAMESPACE Rill:: DESTINATION "${package_folder}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/RillConfig.cmake.in" RillConfig.cmake
  INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file(RillConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/RillConfig.cmake" "${PROJECT_BINARY_DIR}/RillConfigVersion.cmake"
  DESTINATION "${package_folder}")

# rill.pc: `pkg-config --static` gives what librill.a needs.
set(pc_private_libraries "-lfmt -lre2 -pthread")
if(RILL_WITH_ONEDNN)
  string(APPEND pc_private_libraries " -ldnnl")
endif()
if(RILL_PARALLEL STREQUAL "openmp")
  string(APPEND pc_private_libraries " ${OpenMP_CXX_FLAGS}")
endif()
if(RILL_LIBMVEC)
  string(APPEND pc_private_libraries " -lmvec")
endif()
string(APPEND pc_private_libraries " -lm")
configure_file("${PROJECT_SOURCE_DIR}/cmake/rill.pc.in" rill.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/rill.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
