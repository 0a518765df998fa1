# How processes speak to each other, and what they tell about themselves.
rk_library(rk_common_version SRCS version.cc)
target_compile_definitions(rk_common_version PRIVATE "REKINDLE_VERSION=\"${PROJECT_VERSION}\"")
rk_library(rk_common_nearest SRCS nearest.cc)
rk_library(rk_common_rpc SRCS rpc.cc rpc_security.cc
  DEPS rk_common rk_proto absl::status absl::statusor absl::strings OpenSSL::SSL OpenSSL::Crypto)
rk_library(rk_common_metrics SRCS metrics.cc
  DEPS rk_common absl::status absl::statusor prometheus-cpp::core prometheus-cpp::pull)
rk_test(common_rpc_test SRCS rpc_test.cc DEPS rk_common_rpc)
rk_test(common_metrics_test SRCS metrics_test.cc nearest_test.cc DEPS rk_common_metrics rk_common_nearest)
