// Writes answers of the coordinator's services as JSON. The names are those of the messages' fields, and fields with
// their default value are left out.
#ifndef REKINDLE_COORDINATOR_WEB_PARTS_JSON_H_
#define REKINDLE_COORDINATOR_WEB_PARTS_JSON_H_

#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>
#include <string>

namespace rekindle::coordinator::web {

// Returns the message as JSON. Numbers that are not finite become the strings "NaN", "Infinity" and "-Infinity".
std::string ToJson(const google::protobuf::Message& message);

// Returns the text of a JSON value. Bytes that are not valid UTF-8 are replaced.
std::string Dump(const nlohmann::json& value);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PARTS_JSON_H_
