# HTTP clients.
rk_library(rk_common_http SRCS ec2_metadata.cc http.cc
  DEPS rk_common absl::status absl::statusor absl::strings PkgConfig::httplib OpenSSL::SSL OpenSSL::Crypto)
rk_test(common_http_test SRCS http_test.cc DEPS rk_common_http rk_common_process LABELS sanitize threads)
