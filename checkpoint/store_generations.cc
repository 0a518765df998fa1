// Generations that began from a checkpoint: each leaves its number in the store before its first step. Whoever saves or
// collects for an older one looks for a higher number before and after its work; without conditional put the order of
// operations makes it safe:
//   a new generation:  writes its number, then reads the checkpoint that it begins from
//   an older one:      looks for numbers, then works, then looks again
// One of the two sees the other.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/store.h"

namespace rekindle::checkpoint {
namespace {

int ToNumber(const std::string& name) {
  int number = 0;
  // The same digits again: no sign, space or leading zero, so no two names are one number.
  return absl::SimpleAtoi(name, &number) && number > 0 && absl::StrCat(number) == name ? number : 0;
}

}  // namespace

absl::StatusOr<int> Store::HighestGeneration(const std::string& job_uid) {
  if (!IsSafeName(job_uid)) return absl::InvalidArgumentError("the job uid is no safe name");
  const auto names = backend_->List(Generations(job_uid));
  if (!names.ok()) return names.status();
  int highest = 0;
  for (const std::string& name : *names) highest = std::max(highest, ToNumber(name));
  return highest;
}

absl::StatusOr<int> Store::NewestGeneration(const std::string& job_uid) {
  const absl::StatusOr<int> highest = HighestGeneration(job_uid);
  if (!highest.ok()) return highest;
  const auto names = Names(job_uid, nullptr);
  if (!names.ok()) return names.status();
  return names->empty() ? *highest : std::max(*highest, names->front().generation);
}

absl::Status Store::CheckGeneration(const std::string& job_uid, int generation) {
  const absl::StatusOr<int> highest = HighestGeneration(job_uid);
  if (!highest.ok()) return highest.status();
  if (*highest <= generation) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("generation ", generation, " is over: generation ", *highest,
                                                    " of the job has begun from a checkpoint of this store"));
}

absl::Status Store::CheckNewest(const std::string& job_uid, int generation) {
  const auto names = Names(job_uid, nullptr);
  if (!names.ok()) return names.status();
  if (!names->empty() && names->front().generation > generation) {
    return absl::FailedPreconditionError(
        absl::StrCat("generation ", generation, " is over: the store has ", FormatName(names->front())));
  }
  return CheckGeneration(job_uid, generation);
}

absl::Status Store::BeginGeneration(const std::string& job_uid, int generation) {
  if (generation <= 0) return absl::InvalidArgumentError("a generation's number is at least 1");
  if (absl::Status status = CheckGeneration(job_uid, generation); !status.ok()) return status;
  const std::string path = absl::StrCat(Generations(job_uid), "/", generation);
  if (absl::Status status = backend_->Put(path, "begun\n"); !status.ok()) return status;
  return CheckGeneration(job_uid, generation);  // Two that begin at the same time.
}

// The highest number says all that the lower ones do.
absl::Status Store::ForgetGenerations(const std::string& job_uid) {
  const auto names = backend_->List(Generations(job_uid));
  if (!names.ok()) return names.status();
  int highest = 0;
  for (const std::string& name : *names) highest = std::max(highest, ToNumber(name));
  for (const std::string& name : *names) {
    const int number = ToNumber(name);
    if (number == 0 || number == highest) continue;
    if (absl::Status status = backend_->Remove(absl::StrCat(Generations(job_uid), "/", name)); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

}  // namespace rekindle::checkpoint
