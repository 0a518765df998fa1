# rk_train_cuda_plugin loads the CUDA plugin at run time. The plugin is a product of the build, but no library links it.
rk_library(rk_train_cuda_plugin
  SRCS cuda_plugin.cc
  DEPS rk_gpus absl::status absl::statusor absl::strings ${CMAKE_DL_LIBS})
rk_test(cuda_plugin_test SRCS cuda_plugin_test.cc DEPS rk_train_cuda_plugin)
if(TARGET rekindle_cuda)
  add_dependencies(cuda_plugin_test rekindle_cuda)
endif()
