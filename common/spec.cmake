# YAML job files to protos.
rk_library(rk_common_spec SRCS spec/yaml.cc DEPS rk_proto rk_common_nearest absl::status absl::strings yaml-cpp)
rk_test(common_yaml_test SRCS spec/yaml_test.cc DEPS rk_common_spec)
