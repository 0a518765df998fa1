#include "worker/agent/trainers/ended_trainers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/process/trainer_file.h"
#include "worker/agent/folder/small_file.h"

namespace rekindle::agent {

v1::TrainerProcess ProcessOf(const TrainerRecord& record) {
  v1::TrainerProcess process;
  process.set_trainer(record.trainer);
  process.set_job_uid(record.job_uid);
  process.set_slot(record.slot);
  return process;
}

void EndedTrainers::Load() {
  for (const std::string& name : ListFolder(folder_->EndedFolder())) {
    const std::string path = absl::StrCat(folder_->EndedFolder(), "/", name);
    absl::StatusOr<TrainerRecord> record = ReadTrainerRecord(path);
    if (record.ok() && ended_.size() < kMost) {
      ended_.push_back(*std::move(record));
    } else {
      RemoveFile(path);
    }
  }
}

void EndedTrainers::Add(TrainerRecord record, common::ExitStatus status, const std::string& reason) {
  record.exit_code = status.code;
  record.exit_reason = reason;
  const absl::Status saved = ReplaceFile(FileOf(record.trainer), ToJson(record));
  if (!saved.ok()) log::Warning("cannot write down an exit", {{"error", std::string(saved.message())}});
  ended_.push_back(std::move(record));
  if (ended_.size() <= kMost) return;
  RemoveFile(FileOf(ended_.front().trainer));
  ended_.pop_front();
}

void EndedTrainers::Acknowledge(const std::string& trainer) {
  const auto ended =
      std::find_if(ended_.begin(), ended_.end(), [&](const TrainerRecord& r) { return r.trainer == trainer; });
  if (ended == ended_.end()) return;
  RemoveFile(FileOf(trainer));
  ended_.erase(ended);
}

const TrainerRecord* EndedTrainers::Find(const std::string& trainer) const {
  const auto found =
      std::find_if(ended_.begin(), ended_.end(), [&](const TrainerRecord& r) { return r.trainer == trainer; });
  return found == ended_.end() ? nullptr : &*found;
}

void EndedTrainers::Report(v1::NodeReport* report) const {
  for (const TrainerRecord& record : ended_) {
    v1::TrainerProcess process = ProcessOf(record);
    process.set_exit_code(record.exit_code);
    process.set_exit_reason(record.exit_reason);
    process.set_out_of_memory(record.out_of_memory);
    process.set_exit_seen(record.exit_seen);
    *report->add_trainers() = std::move(process);
  }
}

std::string EndedTrainers::FileOf(const std::string& trainer) const {
  return absl::StrCat(folder_->EndedFolder(), "/", common::TrainerFileName(trainer), ".json");
}

}  // namespace rekindle::agent
