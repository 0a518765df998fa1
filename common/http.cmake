# HTTP: a client, and a server of pages.
rk_library(rk_common_http SRCS ec2_metadata.cc http.cc
  DEPS rk_common absl::status absl::statusor absl::strings PkgConfig::httplib OpenSSL::SSL OpenSSL::Crypto)
rk_test(common_http_test SRCS http_test.cc DEPS rk_common_http rk_common_process LABELS sanitize threads)
rk_library(rk_common_http_server SRCS http_connection.cc http_server.cc server_tls.cc
  DEPS rk_common rk_common_listen rk_common_process rk_common_request_head rk_common_rpc absl::status absl::statusor absl::strings PkgConfig::httplib OpenSSL::SSL OpenSSL::Crypto)
rk_test(common_http_server_test SRCS http_server_test.cc DEPS rk_common_http_server LABELS sanitize threads)
