rk_library(rk_common_process SRCS command.cc process.cc DEPS rk_common absl::status absl::statusor absl::strings)
rk_library(rk_common_machine SRCS machine.cc DEPS rk_common_process rk_common_hash absl::strings)
rk_test(process_test SRCS command_test.cc process_test.cc DEPS rk_common_process)
# How a process's death is heard of before the kernel has freed its memory.
rk_library(rk_common_life_lock SRCS life_lock.cc DEPS rk_common rk_common_process absl::status absl::statusor absl::strings)
rk_test(common_life_lock_test SRCS life_lock_test.cc DEPS rk_common_life_lock LABELS sanitize)
