rk_library(rk_common_process SRCS process.cc DEPS absl::status absl::statusor absl::strings)
rk_test(process_test SRCS process_test.cc DEPS rk_common_process)
