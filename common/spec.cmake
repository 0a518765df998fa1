# YAML job files to protos.
rk_library(rk_common_problem_list SRCS problem_list.cc DEPS absl::strings)
rk_test(common_problem_list_test SRCS problem_list_test.cc DEPS rk_common_problem_list)
rk_library(rk_common_utf8 SRCS utf8.cc)
rk_test(common_utf8_test SRCS utf8_test.cc DEPS rk_common_utf8 LABELS sanitize)
rk_library(rk_common_spec SRCS spec/yaml.cc spec/yaml_reader.cc
  DEPS rk_proto rk_common_nearest rk_common_problem_list rk_common_utf8 absl::status absl::statusor absl::str_format absl::strings yaml-cpp)
# What of a job its result depends on.
rk_library(rk_common_spec_digest SRCS spec/spec_digest.cc DEPS rk_common_hash rk_proto)
rk_test(common_yaml_test SRCS spec/yaml_test.cc DEPS rk_common_spec)
# Durations in job files and on command lines.
rk_library(rk_common_duration SRCS duration.cc DEPS absl::status absl::statusor absl::strings)
rk_test(common_duration_test SRCS duration_test.cc DEPS rk_common_duration)
# What flags may be given.
rk_library(rk_common_flag_values SRCS flag_values.cc
  DEPS rk_common_duration rk_common_nearest absl::str_format absl::strings CLI11::CLI11)
rk_test(common_flag_values_test SRCS flag_values_test.cc DEPS rk_common_flag_values LABELS sanitize)
# JSON that may be hostile.
rk_library(rk_common_json SRCS strict_json.cc DEPS absl::status absl::statusor absl::strings nlohmann_json::nlohmann_json)
