# What the library depends on. All of it is private: nothing here shows in a
# public header or in the interface of librill.so. librill.a carries its needs
# along; RillConfig.cmake.in finds them again and must name the same packages.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)                                # text of messages
find_package(PkgConfig REQUIRED)
pkg_check_modules(RILL_RE2 REQUIRED IMPORTED_TARGET GLOBAL re2)  # regular expressions
pkg_check_modules(RILL_ZLIB REQUIRED IMPORTED_TARGET GLOBAL zlib)      # npz, idx.gz, .keras archives
pkg_check_modules(RILL_SNAPPY REQUIRED IMPORTED_TARGET GLOBAL snappy)  # compressed blocks of checkpoints
pkg_check_modules(RILL_HDF5 REQUIRED IMPORTED_TARGET GLOBAL hdf5)      # writes Keras's .h5 files
# Pictures in files. Their headers are found without a path of their own, which would be
# in the command of every file of the library.
pkg_check_modules(RILL_JPEG REQUIRED libjpeg)
pkg_check_modules(RILL_PNG REQUIRED libpng)
pkg_check_modules(RILL_GIF REQUIRED libgif)
pkg_check_modules(RILL_YAML REQUIRED IMPORTED_TARGET GLOBAL yaml-cpp)  # to_yaml, model_from_yaml
pkg_check_modules(RILL_CRYPTO REQUIRED IMPORTED_TARGET GLOBAL libcrypto)  # checksums of published files
# Only their headers: both are loaded when a program first downloads or unpacks something.
pkg_check_modules(RILL_CURL REQUIRED libcurl)
pkg_check_modules(RILL_ARCHIVE REQUIRED libarchive)
find_package(nlohmann_json REQUIRED)                      # configurations as JSON; headers alone
find_package(Protobuf 3.12 REQUIRED)                      # GraphDef and its kin; with protoc

# oneDNN: matrix products, convolutions. Not by its CMake package, which on Debian
# asks for OpenCL headers that neither it nor we need.
find_path(RILL_ONEDNN_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(RILL_ONEDNN_LIBRARY dnnl)
mark_as_advanced(RILL_ONEDNN_INCLUDE RILL_ONEDNN_LIBRARY)
option(RILL_WITH_ONEDNN "Use oneDNN; without it products and convolutions are many times slower" ON)
set(onednn_state "off")
if(RILL_WITH_ONEDNN)
  if(NOT RILL_ONEDNN_INCLUDE OR NOT RILL_ONEDNN_LIBRARY)
    message(FATAL_ERROR "oneDNN was not found (Debian: libdnnl-dev). Set RILL_ONEDNN_INCLUDE and "
      "RILL_ONEDNN_LIBRARY to where it is, or RILL_WITH_ONEDNN=OFF to do without: products and "
      "convolutions are many times slower then")
  endif()
  file(STRINGS "${RILL_ONEDNN_INCLUDE}/oneapi/dnnl/dnnl_version.h" onednn_version
       REGEX "#define DNNL_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" onednn_version "${onednn_version}")
  string(REPLACE ";" "." onednn_version "${onednn_version}")
  if(onednn_version VERSION_LESS 2.6 OR onednn_version VERSION_GREATER_EQUAL 4)
    message(FATAL_ERROR "oneDNN is ${onednn_version} (${RILL_ONEDNN_INCLUDE}); expected 2.6 to 3.x")
  endif()
  set(onednn_state "${onednn_version}")
endif()

if(RILL_PARALLEL STREQUAL "openmp")
  find_package(OpenMP REQUIRED COMPONENTS CXX)            # parallel loops, one pool with oneDNN
endif()

find_library(RILL_LIBMVEC mvec)                           # glibc's vector exp, log, ...; not on every machine
mark_as_advanced(RILL_LIBMVEC)

# Libraries that a program linked with librill.a needs too.
set(RILL_LINK_LIBRARIES Threads::Threads fmt::fmt PkgConfig::RILL_RE2 protobuf::libprotobuf
    PkgConfig::RILL_SNAPPY PkgConfig::RILL_HDF5 PkgConfig::RILL_YAML PkgConfig::RILL_ZLIB
    PkgConfig::RILL_CRYPTO jpeg png gif ${CMAKE_DL_LIBS})
if(RILL_WITH_ONEDNN)
  # Installed by its short name: the path may differ where the archive is used.
  list(APPEND RILL_LINK_LIBRARIES
       "$<BUILD_INTERFACE:${RILL_ONEDNN_LIBRARY}>" "$<INSTALL_INTERFACE:dnnl>")
endif()
if(RILL_PARALLEL STREQUAL "openmp")
  list(APPEND RILL_LINK_LIBRARIES OpenMP::OpenMP_CXX)
endif()
if(RILL_LIBMVEC)
  list(APPEND RILL_LINK_LIBRARIES mvec)
endif()
list(APPEND RILL_LINK_LIBRARIES m)

message(STATUS "Rill ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, parallel by ${RILL_PARALLEL}, "
               "oneDNN ${onednn_state}, sanitizer \"${RILL_SANITIZE}\"")
