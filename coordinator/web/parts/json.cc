#include "coordinator/web/parts/json.h"

#include <google/protobuf/util/json_util.h>

namespace rekindle::coordinator::web {

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  return google::protobuf::util::MessageToJsonString(message, &text, options).ok() ? text : "{}";
}

std::string Dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace rekindle::coordinator::web
