# How programs show pages: HTTP for browsers.
rk_library(rk_common_listen SRCS serve/listen.cc DEPS rk_common_process rk_common_rpc absl::status absl::statusor absl::strings)
rk_library(rk_common_page_server SRCS serve/page_connection.cc serve/page_server.cc serve/page_tls.cc
  DEPS rk_common rk_common_listen rk_common_process rk_common_rpc absl::status absl::statusor absl::strings PkgConfig::httplib
    OpenSSL::SSL OpenSSL::Crypto)
rk_test(common_page_server_test SRCS serve/page_server_test.cc serve/page_tls_test.cc
  DEPS rk_common_page_server rk_common_http LABELS sanitize threads)
