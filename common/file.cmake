rk_library(rk_common_hash SRCS hash.cc DEPS PkgConfig::xxhash)
rk_library(rk_common_file SRCS file.cc DEPS absl::status absl::statusor absl::strings)
rk_library(rk_common_shared_memory SRCS shared_memory.cc DEPS rk_common_file)
