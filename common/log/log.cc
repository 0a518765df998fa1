#include "common/log/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::log {
namespace {

struct Sink {
  common::Mutex mutex;
  std::shared_ptr<spdlog::logger> logger ABSL_GUARDED_BY(mutex);
  Format format ABSL_GUARDED_BY(mutex) = Format::kText;
  std::string program ABSL_GUARDED_BY(mutex) = "rekindle";
  std::map<std::string, Field> context ABSL_GUARDED_BY(mutex);
};

Sink& GetSink() {
  // The sink is never destroyed, because threads may log while the process exits.
  static Sink* sink = new Sink;
  return *sink;
}

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string Text(const Field& field) {
  if (const auto* s = std::get_if<std::string>(&field.value)) {
    return s->find_first_of(" \"=\n") == std::string::npos && !s->empty() ? *s : nlohmann::json(*s).dump();
  }
  if (const auto* d = std::get_if<double>(&field.value)) return fmt::format("{:.6g}", *d);
  return std::to_string(std::get<long long>(field.value));
}

void Put(nlohmann::ordered_json& line, const Field& field) {
  std::visit([&](const auto& value) { line[field.key] = value; }, field.value);
}

std::string Render(const Sink& sink, Level level, const std::string& message, Fields fields)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(sink.mutex) {
  if (sink.format == Format::kJson) {
    nlohmann::ordered_json line;
    line["time"] = common::WallSeconds();
    line["level"] = spdlog::level::to_string_view(ToSpdlog(level)).data();
    line["program"] = sink.program;
    line["message"] = message;
    for (const auto& [key, field] : sink.context) Put(line, field);
    for (const Field& field : fields) Put(line, field);
    return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  std::string line = message;
  for (const auto& [key, field] : sink.context) line += " " + key + "=" + Text(field);
  for (const Field& field : fields) line += " " + field.key + "=" + Text(field);
  return line;
}

}  // namespace

void Init(const std::string& program) {
  Sink& sink = GetSink();
  const common::MutexLock lock(sink.mutex);
  sink.program = program;
  sink.format = Environment("REKINDLE_LOG_FORMAT") == "json" ? Format::kJson : Format::kText;
  sink.logger = std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  sink.logger->set_pattern(sink.format == Format::kJson ? "%v" : "%Y-%m-%dT%H:%M:%S.%e %L %n: %v");
  const std::string level = Environment("REKINDLE_LOG_LEVEL");
  sink.logger->set_level(level == "debug"     ? spdlog::level::debug
                         : level == "warning" ? spdlog::level::warn
                         : level == "error"   ? spdlog::level::err
                                              : spdlog::level::info);
}

void SetContext(Fields fields) {
  Sink& sink = GetSink();
  const common::MutexLock lock(sink.mutex);
  for (const Field& field : fields) sink.context.insert_or_assign(field.key, field);
}

void Write(Level level, const std::string& message, Fields fields) {
  Sink& sink = GetSink();
  const common::MutexLock lock(sink.mutex);
  if (!sink.logger) {
    sink.logger = std::make_shared<spdlog::logger>(sink.program, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  }
  if (!sink.logger->should_log(ToSpdlog(level))) return;
  sink.logger->log(ToSpdlog(level), "{}", Render(sink, level, message, fields));
  sink.logger->flush();
}

}  // namespace rekindle::log
