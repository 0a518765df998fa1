// What the store keeps of a job itself: <root>/<job uid>/job.json (job_file.h).
#include "absl/strings/str_cat.h"
#include "checkpoint/job_file.h"
#include "checkpoint/store.h"

namespace rekindle::checkpoint {
namespace {

absl::Status CheckUid(const std::string& job_uid) {
  if (IsSafeName(job_uid)) return absl::OkStatus();
  return absl::InvalidArgumentError("the job uid is no safe name");
}

}  // namespace

absl::Status Store::PutJobFile(const std::string& job_uid, int generation, const std::string& text) {
  if (absl::Status status = CheckUid(job_uid); !status.ok()) return status;
  if (absl::Status status = CheckJobFile(text, job_uid); !status.ok()) return status;
  if (absl::Status status = CheckNewest(job_uid, generation); !status.ok()) return status;
  if (absl::Status status = backend_->Put(JobPath(job_uid), text); !status.ok()) return status;
  return CheckGeneration(job_uid, generation);
}

absl::StatusOr<std::string> Store::ReadJobFile(const std::string& job_uid) {
  if (absl::Status status = CheckUid(job_uid); !status.ok()) return status;
  const auto text = backend_->ReadAll(JobPath(job_uid), kMaxJobFileBytes);
  // Too large: as with any other damage.
  if (absl::IsOutOfRange(text.status())) return DecodeJobFile(std::string(kMaxJobFileBytes + 1, ' '), job_uid);
  if (!text.ok()) return text.status();
  return DecodeJobFile(*text, job_uid);
}

absl::StatusOr<bool> Store::HasJobFile(const std::string& job_uid) {
  if (absl::Status status = CheckUid(job_uid); !status.ok()) return status;
  const auto info = backend_->Stat(JobPath(job_uid));
  if (absl::IsNotFound(info.status())) return false;
  if (!info.ok()) return info.status();
  return true;
}

// Before a manifest, whose generation was looked at.
absl::Status Store::PutBeside(const Manifest& manifest, const JobFile& job) {
  if (!job.text.empty()) {
    if (absl::Status status = CheckJobFile(job.text, manifest.job_uid); !status.ok()) return status;
    return backend_->Put(JobPath(manifest.job_uid), job.text);
  }
  if (!job.required) return absl::OkStatus();
  const auto there = HasJobFile(manifest.job_uid);
  if (!there.ok()) return there.status();
  if (*there) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("the store has no job.json of job ", manifest.job_uid,
                   " yet, and its coordinator has not told what is to be in it: the next checkpoint tries again"));
}

}  // namespace rekindle::checkpoint
