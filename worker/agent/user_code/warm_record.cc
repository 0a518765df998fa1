#include "worker/agent/user_code/warm_record.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "worker/agent/folder/small_file.h"

namespace rekindle::agent {
namespace {

constexpr size_t kMostBytes = 64 << 10;
constexpr size_t kLongestName = 128;

}  // namespace

std::string ToJson(const WarmRecord& record) {
  const nlohmann::ordered_json json = {
      {"job_uid", record.job_uid}, {"isolation", user_code::NameOf(record.isolation)},
      {"uid", record.uid},         {"folder", record.folder},
      {"pid", record.process.pid}, {"start_time_ticks", record.process.start_time_ticks},
      {"boot_id", record.boot_id}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

absl::StatusOr<WarmRecord> ReadWarmRecord(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path, kMostBytes);
  if (!text.ok()) return text.status();
  WarmRecord record;
  std::string isolation;
  try {
    const nlohmann::json json = nlohmann::json::parse(*text);
    json.at("job_uid").get_to(record.job_uid);
    json.at("isolation").get_to(isolation);
    json.at("uid").get_to(record.uid);
    json.at("folder").get_to(record.folder);
    json.at("pid").get_to(record.process.pid);
    json.at("start_time_ticks").get_to(record.process.start_time_ticks);
    json.at("boot_id").get_to(record.boot_id);
  } catch (const nlohmann::json::exception& error) {
    return absl::DataLossError(absl::StrCat(path, " is no record of a job's code: ", error.what()));
  }
  const std::optional<user_code::Isolation> known = user_code::IsolationOf(isolation);
  // The folder will be removed, and the processes of the user id killed.
  const bool is_sound = known && IsSafeName(record.job_uid, kLongestName) && !record.folder.empty() &&
                        record.folder[0] == '/' &&
                        (*known == user_code::Isolation::kNone || record.uid >= user_code::kLeastUid);
  if (!is_sound) return absl::DataLossError(absl::StrCat(path, " is no record of a job's code"));
  record.isolation = *known;
  return record;
}

}  // namespace rekindle::agent
