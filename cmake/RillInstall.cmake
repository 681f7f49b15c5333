# `make install`: public headers, both libraries, a CMake package, rill.pc.

if(NOT RILL_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

# Kernels, *_impl.h and anything named internal are not for users.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/rill" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING
  PATTERN "kernels" EXCLUDE
  PATTERN "testdata" EXCLUDE
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

# rill.pc for librill.so, rill-static.pc for librill.a. One file for both cannot
# be: `pkg-config --static` still says -lrill, so the library would come twice.
set(pc_archive_needs "-lfmt -lre2 -lprotobuf -lsnappy -lyaml-cpp -ljpeg -lpng -lgif -lz -lcrypto -ldl -pthread")
string(JOIN " " pc_hdf5 ${RILL_HDF5_LDFLAGS})
string(APPEND pc_archive_needs " ${pc_hdf5}")
if(RILL_WITH_ONEDNN)
  string(APPEND pc_archive_needs " -ldnnl")
endif()
if(RILL_PARALLEL STREQUAL "openmp")
  string(APPEND pc_archive_needs " ${OpenMP_CXX_FLAGS}")
endif()
if(RILL_LIBMVEC)
  string(APPEND pc_archive_needs " -lmvec")
endif()
string(APPEND pc_archive_needs " -lm")
foreach(name rill rill-static)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" ${name}.pc @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
