# Object stores: the interface that checkpoint/ uses, and the plugin that speaks to the clouds.
rk_library(rk_common_object_uri SRCS object_uri.cc store_endpoints.cc DEPS rk_common_nearest absl::status absl::statusor absl::strings)
rk_library(rk_common_object_errors SRCS object_errors.cc retry.cc
  DEPS rk_common absl::status absl::statusor absl::strings absl::str_format absl::cord)
rk_library(rk_common_plugin SRCS plugin.cc DEPS absl::status absl::statusor absl::strings ${CMAKE_DL_LIBS})
rk_library(rk_common_abandon SRCS abandon.cc DEPS absl::status absl::statusor)
rk_library(rk_common_objects SRCS object_store.cc object_plugin.cc
  DEPS rk_common_abandon rk_common_object_errors rk_common_object_uri rk_common_plugin)
rk_test(common_objects_test SRCS object_store_test.cc object_uri_test.cc object_errors_test.cc retry_test.cc store_endpoints_test.cc
  DEPS rk_common_objects LABELS sanitize)

# Beside the programs, and loaded by the first cloud URI: nothing is ever linked with Arrow.
if(REKINDLE_HAVE_ARROW)
  add_library(rekindle_objects MODULE object_store_arrow.cc)
  target_link_libraries(rekindle_objects PRIVATE rk_flags rk_common_object_errors rk_arrow)
  set_target_properties(rekindle_objects PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
    CXX_VISIBILITY_PRESET hidden)
  target_link_options(rekindle_objects PRIVATE "-Wl,--exclude-libs,ALL")
  add_dependencies(programs rekindle_objects)
endif()
