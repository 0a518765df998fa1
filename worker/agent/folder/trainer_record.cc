#include "worker/agent/folder/trainer_record.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "worker/agent/folder/small_file.h"

namespace rekindle::agent {
std::string ToJson(const TrainerRecord& record) {
  const nlohmann::ordered_json json = {{"trainer", record.trainer},
                                       {"slot", record.slot},
                                       {"job_uid", record.job_uid},
                                       {"job_name", record.job_name},
                                       {"pid", record.process.pid},
                                       {"start_time_ticks", record.process.start_time_ticks},
                                       {"boot_id", record.boot_id},
                                       {"started_at", record.started_at},
                                       {"log", record.log},
                                       {"exit_code", record.exit_code},
                                       {"exit_reason", record.exit_reason},
                                       {"out_of_memory", record.out_of_memory},
                                       {"exit_seen", record.exit_seen}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

absl::StatusOr<TrainerRecord> FromJson(const std::string& text) {
  TrainerRecord record;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    json.at("trainer").get_to(record.trainer);
    json.at("slot").get_to(record.slot);
    json.at("job_uid").get_to(record.job_uid);
    json.at("job_name").get_to(record.job_name);
    json.at("pid").get_to(record.process.pid);
    json.at("start_time_ticks").get_to(record.process.start_time_ticks);
    json.at("boot_id").get_to(record.boot_id);
    json.at("started_at").get_to(record.started_at);
    json.at("log").get_to(record.log);
    json.at("exit_code").get_to(record.exit_code);
    json.at("exit_reason").get_to(record.exit_reason);
    record.out_of_memory = json.value("out_of_memory", false);
    record.exit_seen = json.value("exit_seen", false);
  } catch (const nlohmann::json::exception& error) {
    return absl::DataLossError(absl::StrCat("not a trainer record: ", error.what()));
  }
  if (record.slot < 0 || !IsSafeName(record.job_uid, 128) || !IsSafeName(record.job_name, 128)) {
    return absl::DataLossError("not a trainer record: bad slot, job uid or job name");
  }
  return record;
}

absl::StatusOr<TrainerRecord> ReadTrainerRecord(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path, kMaxRecordBytes);
  return text.ok() ? FromJson(*text) : text.status();
}

}  // namespace rekindle::agent
