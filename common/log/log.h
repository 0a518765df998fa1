// Writes structured logs to stderr, as text or JSON. An event is one line, with fields that name job, generation and
// rank.
//
//   log::Info("re-formed", {{"job", name}, {"generation", g}});
//
// All functions are thread-safe. The caller must never pass secrets as fields.
#ifndef REKINDLE_COMMON_LOG_LOG_H_
#define REKINDLE_COMMON_LOG_LOG_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <variant>

namespace rekindle::log {

struct Field {
  Field(std::string key, std::string value) : key(std::move(key)), value(std::move(value)) {}
  Field(std::string key, const char* value) : key(std::move(key)), value(std::string(value)) {}
  Field(std::string key, double value) : key(std::move(key)), value(value) {}
  Field(std::string key, long long value) : key(std::move(key)), value(value) {}
  Field(std::string key, long value) : Field(std::move(key), static_cast<long long>(value)) {}
  Field(std::string key, int value) : Field(std::move(key), static_cast<long long>(value)) {}

  std::string key;
  std::variant<std::string, double, long long> value;
};
using Fields = std::initializer_list<Field>;

enum class Level { kDebug, kInfo, kWarning, kError };
enum class Format { kText, kJson };

// Initializes the log. It must be called once at the start of main. `program` appears on every line.
// REKINDLE_LOG_FORMAT (text, json) and REKINDLE_LOG_LEVEL (debug, info, warning, error) override the defaults text and
// info.
void Init(const std::string& program);
// Sets fields that every later line carries. They replace those with the same key.
void SetContext(Fields fields);

void Write(Level level, const std::string& message, Fields fields = {});
inline void Debug(const std::string& message, Fields fields = {}) { Write(Level::kDebug, message, fields); }
inline void Info(const std::string& message, Fields fields = {}) { Write(Level::kInfo, message, fields); }
inline void Warning(const std::string& message, Fields fields = {}) { Write(Level::kWarning, message, fields); }
inline void Error(const std::string& message, Fields fields = {}) { Write(Level::kError, message, fields); }

}  // namespace rekindle::log

#endif  // REKINDLE_COMMON_LOG_LOG_H_
