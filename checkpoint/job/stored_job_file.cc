#include "checkpoint/job/stored_job_file.h"

#include "absl/strings/str_cat.h"
#include "checkpoint/job/generation_marks.h"

namespace rekindle::checkpoint {

absl::Status StoredJobFile::Put(int generation, const std::string& text) {
  GenerationMarks marks(folder_);
  if (absl::Status status = folder_.Check(); !status.ok()) return status;
  if (absl::Status status = CheckJobFile(text, folder_.uid()); !status.ok()) return status;
  if (absl::Status status = marks.CheckNewest(generation); !status.ok()) return status;
  if (absl::Status status = folder_.backend().Put(folder_.JobFile(), text); !status.ok()) return status;
  return marks.Check(generation);
}

absl::Status StoredJobFile::PutBeforeManifest(const JobFile& job) {
  if (!job.text.empty()) {
    if (absl::Status status = CheckJobFile(job.text, folder_.uid()); !status.ok()) return status;
    return folder_.backend().Put(folder_.JobFile(), job.text);
  }
  if (!job.required) return absl::OkStatus();
  const auto there = IsThere();
  if (!there.ok()) return there.status();
  if (*there) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("the store has no job.json of job ", folder_.uid(),
                   " yet, and its coordinator has not told what is to be in it: the next checkpoint tries again"));
}

absl::StatusOr<std::string> StoredJobFile::Read() {
  if (absl::Status status = folder_.Check(); !status.ok()) return status;
  const auto text = folder_.backend().ReadAll(folder_.JobFile(), kMaxJobFileBytes);
  // A job.json that is too large is reported like any other damage.
  if (absl::IsOutOfRange(text.status())) return DecodeJobFile(std::string(kMaxJobFileBytes + 1, ' '), folder_.uid());
  if (!text.ok()) return text.status();
  return DecodeJobFile(*text, folder_.uid());
}

absl::StatusOr<bool> StoredJobFile::IsThere() {
  if (absl::Status status = folder_.Check(); !status.ok()) return status;
  const auto info = folder_.backend().Stat(folder_.JobFile());
  if (absl::IsNotFound(info.status())) return false;
  if (!info.ok()) return info.status();
  return true;
}

}  // namespace rekindle::checkpoint
