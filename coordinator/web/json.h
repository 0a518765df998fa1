// Answers of the services as JSON: the names of the messages' fields, without those that have their default value.
#ifndef REKINDLE_COORDINATOR_WEB_JSON_H_
#define REKINDLE_COORDINATOR_WEB_JSON_H_

#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>
#include <string>

namespace rekindle::coordinator::web {

// Numbers that are none are the strings "NaN", "Infinity" and "-Infinity".
std::string ToJson(const google::protobuf::Message& message);

// What is no UTF-8 is replaced.
std::string Dump(const nlohmann::json& value);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_JSON_H_
