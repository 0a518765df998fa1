# How processes speak to each other, and what they tell about themselves.
rk_library(rk_common_version SRCS version.cc)
target_compile_definitions(rk_common_version PRIVATE "REKINDLE_VERSION=\"${PROJECT_VERSION}\"")
# Of which commit this build is: looked up at each build, and compiled when it has changed.
set(commit_file "${CMAKE_BINARY_DIR}/generated/commit.cc")
set(REKINDLE_COMMIT "" CACHE STRING "The commit of sources that are no git checkout")
add_custom_target(commit_file BYPRODUCTS "${commit_file}" COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${CMAKE_SOURCE_DIR}"
  "-DOUTPUT=${commit_file}" "-DCOMMIT=${REKINDLE_COMMIT}" -P "${CMAKE_SOURCE_DIR}/cmake/write_commit.cmake" VERBATIM)
rk_library(rk_common_release SRCS release.cc "${commit_file}" DEPS rk_common_version)
add_dependencies(rk_common_release commit_file)
rk_library(rk_common_nearest SRCS nearest.cc)
rk_library(rk_common_rpc SRCS local_token.cc rpc.cc rpc_acceptor.cc rpc_security.cc socket_owner.cc
  DEPS rk_common rk_common_file rk_common_hash rk_common_listen rk_common_process rk_common_random_bytes rk_proto absl::status absl::statusor
    absl::strings OpenSSL::SSL OpenSSL::Crypto)
rk_library(rk_common_metrics SRCS metrics.cc metric_samples.cc process_metrics.cc
  DEPS rk_common rk_common_http_server rk_common_version absl::status absl::statusor absl::strings prometheus-cpp::core)
rk_test(common_rpc_test SRCS local_token_test.cc rpc_descriptors_test.cc rpc_loopback_test.cc rpc_test.cc socket_owner_test.cc DEPS rk_common_rpc)
rk_test(common_metrics_test SRCS metrics_test.cc metric_samples_test.cc nearest_test.cc process_metrics_test.cc
  DEPS rk_common_metrics rk_common_nearest)
