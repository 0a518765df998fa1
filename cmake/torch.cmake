# Finds LibTorch in the pinned wheel. Its libraries are linked by path. If it is absent, the trainer is not built, and a
# message says so.
set(REKINDLE_HAVE_TORCH OFF)
if(REKINDLE_TORCH AND EXISTS "${REKINDLE_WHEELS}/torch/lib/libtorch_cpu.so")
  set(REKINDLE_HAVE_TORCH ON)
  set(torch_dir "${REKINDLE_WHEELS}/torch")
  add_library(rk_torch INTERFACE)
  target_include_directories(rk_torch SYSTEM INTERFACE
    "${torch_dir}/include" "${torch_dir}/include/torch/csrc/api/include")
  target_link_libraries(rk_torch INTERFACE "${torch_dir}/lib/libtorch_cpu.so" "${torch_dir}/lib/libc10.so")
  target_link_options(rk_torch INTERFACE "-Wl,-rpath,${torch_dir}/lib")
else()
  message(STATUS "LibTorch not found under REKINDLE_WHEELS='${REKINDLE_WHEELS}': rekindle-trainer is left out")
endif()
