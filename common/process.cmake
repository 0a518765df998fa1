rk_library(rk_common_process SRCS command.cc process.cc DEPS rk_common absl::status absl::statusor absl::strings)
rk_library(rk_common_machine SRCS machine.cc DEPS rk_common_process rk_common_hash absl::strings)
rk_test(process_test SRCS command_test.cc process_test.cc DEPS rk_common_process)
