# What the library stands on. All of it is private: nothing here shows in a
# public header or in the interface of librill.so. librill.a carries its needs
# along; RillConfig.cmake.in finds them again and must name the same packages.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)                                # text of messages
find_package(Eigen3 3.4 REQUIRED NO_MODULE)               # QR, SVD, Cholesky; headers only
find_package(PkgConfig REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET GLOBAL re2)  # regular expressions

find_package(dnnl QUIET)                                  # matrix products, convolutions
option(RILL_WITH_ONEDNN "Use oneDNN; without it plain kernels run" ${dnnl_FOUND})
if(RILL_WITH_ONEDNN AND NOT dnnl_FOUND)
  message(FATAL_ERROR "RILL_WITH_ONEDNN is ON, but oneDNN was not found (Debian: libdnnl-dev)")
endif()

if(RILL_PARALLEL STREQUAL "openmp")
  find_package(OpenMP REQUIRED COMPONENTS CXX)            # parallel loops, one pool with oneDNN
endif()

find_library(RILL_LIBMVEC mvec)                           # glibc's vector exp, log, ...; not on every machine
mark_as_advanced(RILL_LIBMVEC)

# Libraries that a program linked with librill.a needs too.
set(RILL_LINK_LIBRARIES Threads::Threads fmt::fmt PkgConfig::RE2)
if(RILL_WITH_ONEDNN)
  list(APPEND RILL_LINK_LIBRARIES DNNL::dnnl)
endif()
if(RILL_PARALLEL STREQUAL "openmp")
  list(APPEND RILL_LINK_LIBRARIES OpenMP::OpenMP_CXX)
endif()
if(RILL_LIBMVEC)
  list(APPEND RILL_LINK_LIBRARIES mvec)
endif()
list(APPEND RILL_LINK_LIBRARIES m)

message(STATUS "Rill ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, parallel by ${RILL_PARALLEL}, "
               "oneDNN ${RILL_WITH_ONEDNN}, sanitizer \"${RILL_SANITIZE}\"")
