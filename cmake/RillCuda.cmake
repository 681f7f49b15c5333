# librill_cuda.so: kernels for NVIDIA GPUs, in a plug-in that librill.so loads
# when a program first asks for a GPU. Built where nvcc is found; nothing else
# depends on it.

include(CheckLanguage)
set(found_cuda OFF)
if(RILL_CUDA OR (NOT DEFINED RILL_CUDA AND NOT RILL_SANITIZE))
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    # Often it is installed but not on the path.
    find_program(RILL_NVCC nvcc PATHS /usr/local/cuda/bin "$ENV{CUDA_PATH}/bin")
    mark_as_advanced(RILL_NVCC)
    if(RILL_NVCC)
      set(ENV{CUDACXX} "${RILL_NVCC}")
    endif()
  endif()
  # Code for Hopper, and PTX that drivers compile for what comes after it.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    find_package(CUDAToolkit QUIET)
  endif()
  if(CMAKE_CUDA_COMPILER AND TARGET CUDA::cublas)
    set(found_cuda ON)
  endif()
endif()
option(RILL_CUDA "Build the plug-in for NVIDIA GPUs" ${found_cuda})
if(NOT RILL_CUDA)
  return()
endif()
if(NOT found_cuda)
  message(FATAL_ERROR "RILL_CUDA is ON, but nvcc or cuBLAS was not found; set CMAKE_CUDA_COMPILER")
endif()
enable_language(CUDA)
message(STATUS "Rill: CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")

# cuDNN's headers: the system's, or those of the PyPI package nvidia-cudnn-cu13. The library
# is opened at run time, and nothing needs it.
file(GLOB cudnn_packages "/usr/lib/python3*/*-packages/nvidia/cudnn/include"
     "/usr/local/lib/python3*/*-packages/nvidia/cudnn/include"
     "$ENV{VIRTUAL_ENV}/lib/python3*/site-packages/nvidia/cudnn/include"
     "$ENV{HOME}/.local/lib/python3*/site-packages/nvidia/cudnn/include")
find_path(RILL_CUDNN_INCLUDE_DIR cudnn_graph.h
          HINTS ${CUDAToolkit_INCLUDE_DIRS} "$ENV{CUDNN_PATH}/include" ${cudnn_packages})
mark_as_advanced(RILL_CUDNN_INCLUDE_DIR)
set(found_cudnn OFF)
if(RILL_CUDNN_INCLUDE_DIR)
  set(found_cudnn ON)
endif()
option(RILL_CUDNN "Convolutions on GPUs by cuDNN" ${found_cudnn})
if(RILL_CUDNN AND NOT found_cudnn)
  message(FATAL_ERROR "RILL_CUDNN is ON, but cudnn_graph.h was not found; install cuDNN 9 or `pip "
                      "install nvidia-cudnn-cu13`, or set RILL_CUDNN_INCLUDE_DIR")
endif()
message(STATUS "Rill: cuDNN ${RILL_CUDNN}")

file(GLOB RILL_CUDA_SOURCES CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/rill/kernels/cuda/*.cu" "${PROJECT_SOURCE_DIR}/rill/kernels/cuda/*.cc")
list(FILTER RILL_CUDA_SOURCES EXCLUDE REGEX "_test\\.cc$")

add_library(rill_cuda_objects OBJECT ${RILL_CUDA_SOURCES})
set_target_properties(rill_cuda_objects PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_STANDARD 20
  CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
target_include_directories(rill_cuda_objects PUBLIC "${PROJECT_SOURCE_DIR}")
target_include_directories(rill_cuda_objects SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
if(RILL_CUDNN)
  target_include_directories(rill_cuda_objects SYSTEM PRIVATE "${RILL_CUDNN_INCLUDE_DIR}")
  set_source_files_properties("${PROJECT_SOURCE_DIR}/rill/kernels/cuda/cudnn.cc"
    "${PROJECT_SOURCE_DIR}/rill/kernels/cuda/cudnn_conv.cc"
    PROPERTIES COMPILE_DEFINITIONS RILL_WITH_CUDNN=1)
endif()
target_compile_options(rill_cuda_objects PRIVATE
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden;-Wall;-Wextra;-Wshadow=local>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${RILL_WERROR}>>:-Werror>
  # The standard as a flag: CMake before 3.26 does not know it of newer compilers.
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>
  # Fused products only where the code says so: the numbers are the CPU's.
  $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;--expt-relaxed-constexpr;--extended-lambda;-diag-suppress=1835>
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>")

add_library(rill_cuda SHARED)
target_sources(rill_cuda PRIVATE $<TARGET_OBJECTS:rill_cuda_objects>)
set_target_properties(rill_cuda PROPERTIES LINKER_LANGUAGE CXX)
# CUDA's run-time library is in it: a second one in the program does no harm.
target_link_libraries(rill_cuda PRIVATE rill CUDA::cudart_static CUDA::cublas CUDA::cublasLt ${CMAKE_DL_LIBS})
target_link_options(rill_cuda PRIVATE -Wl,-z,defs -Wl,--as-needed)
set_property(TARGET rill_cuda APPEND PROPERTY BUILD_RPATH "\$ORIGIN")
set_property(TARGET rill_cuda APPEND PROPERTY INSTALL_RPATH "\$ORIGIN")
if(RILL_INSTALL)
  install(TARGETS rill_cuda LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" OPTIONAL)
endif()
