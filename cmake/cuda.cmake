# Finds the CUDA compiler in the pinned wheels. The compiler needs no GPU, so every machine that has the wheels compiles
# the kernels. CMake's own CUDA language is not used, because it needs an installed toolkit. If the compiler is absent,
# the CUDA plugin is not built, and the trainer's loader of the plugin returns Unimplemented.
set(REKINDLE_HAVE_CUDA OFF)
set(REKINDLE_HAVE_NCCL OFF)
file(GLOB cuda_root "${REKINDLE_WHEELS}/nvidia/cu1[0-9]")
if(REKINDLE_CUDA AND REKINDLE_WHEELS AND EXISTS "${cuda_root}/bin/nvcc" AND EXISTS "${cuda_root}/nvvm/bin/cicc")
  set(REKINDLE_HAVE_CUDA ON)
  # rk_cudart is the CUDA runtime that LibTorch loads. Two runtimes in one process would each keep their own state.
  file(GLOB cudart "${cuda_root}/lib/libcudart.so.[0-9]*")
  add_library(rk_cudart INTERFACE)
  target_include_directories(rk_cudart SYSTEM INTERFACE "${cuda_root}/include")
  target_link_libraries(rk_cudart INTERFACE "${cudart}")
  target_link_options(rk_cudart INTERFACE "-Wl,-rpath,${cuda_root}/lib")
else()
  message(STATUS "CUDA compiler not found under REKINDLE_WHEELS='${REKINDLE_WHEELS}': the CUDA plugin is left out")
endif()

# Finds the header of NCCL, with which the CUDA plugin is compiled, and the folder of its library. The plugin loads the
# library from that folder when it first needs it. LibTorch uses the same file.
set(nccl_root "${REKINDLE_WHEELS}/nvidia/nccl")
if(REKINDLE_HAVE_CUDA AND EXISTS "${nccl_root}/include/nccl.h" AND EXISTS "${nccl_root}/lib/libnccl.so.2")
  set(REKINDLE_HAVE_NCCL ON)
  add_library(rk_nccl INTERFACE)
  target_compile_definitions(rk_nccl INTERFACE REKINDLE_HAVE_NCCL)
  target_include_directories(rk_nccl SYSTEM INTERFACE "${nccl_root}/include")
  target_link_libraries(rk_nccl INTERFACE rk_cudart ${CMAKE_DL_LIBS})
  target_link_options(rk_nccl INTERFACE "-Wl,-rpath,${nccl_root}/lib")
endif()

# rk_cuda_objects(OUT a.cu b.cu) compiles the files with nvcc for sm_90 and, through PTX, for later architectures. It
# sets OUT to the list of object files.
function(rk_cuda_objects out)
  set(objects)
  foreach(source ${ARGN})
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${source}.o")
    cmake_path(GET object PARENT_PATH folder)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND "${cuda_root}/bin/nvcc" -ccbin "${CMAKE_CXX_COMPILER}" -std=c++20 -O3 -fmad=false
              --expt-relaxed-constexpr
              -gencode arch=compute_90,code=[sm_90,compute_90] -Xcompiler -fPIC,-Wall,-Wextra -Werror all-warnings
              -I "${CMAKE_SOURCE_DIR}" -MD -MF "${object}.d" -c "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -o "${object}"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${source}" DEPFILE "${object}.d"
      COMMENT "Compiling ${source} for sm_90" VERBATIM)
    list(APPEND objects "${object}")
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
