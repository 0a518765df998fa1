# How programs show pages: HTTP for browsers.
rk_library(rk_common_listen SRCS address.cc descriptors.cc serve/listen.cc DEPS rk_common rk_common_process absl::status absl::statusor absl::strings)
rk_library(rk_common_request_head SRCS serve/request_head.cc DEPS absl::strings)
rk_test(common_request_head_test SRCS serve/request_head_test.cc DEPS rk_common_request_head LABELS sanitize)
rk_library(rk_common_page_server SRCS serve/page_connection.cc serve/page_server.cc serve/page_tls.cc
  DEPS rk_common rk_common_listen rk_common_process rk_common_request_head rk_common_rpc absl::status absl::statusor absl::strings PkgConfig::httplib
    OpenSSL::SSL OpenSSL::Crypto)
rk_test(common_page_server_test SRCS serve/page_server_test.cc serve/page_tls_test.cc
  DEPS rk_common_page_server rk_common_http LABELS sanitize threads)
