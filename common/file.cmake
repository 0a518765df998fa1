rk_library(rk_common_hash SRCS hash.cc DEPS PkgConfig::xxhash)
rk_library(rk_common_file SRCS file.cc direct_read.cc DEPS absl::status absl::statusor absl::strings)
rk_library(rk_common_fault_file SRCS fault_file.cc DEPS rk_common_file)
rk_library(rk_common_shared_memory SRCS shared_memory.cc DEPS rk_common_file)
rk_test(common_file_test SRCS file_test.cc hash_test.cc shared_memory_test.cc
  DEPS rk_common_hash rk_common_fault_file rk_common_shared_memory LABELS sanitize)
rk_library(rk_common_memory SRCS memory.cc DEPS absl::status absl::statusor absl::strings absl::str_format)
rk_test(common_memory_test SRCS memory_test.cc DEPS rk_common_memory)
