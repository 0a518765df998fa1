#include "checkpoint/job/generation_marks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/job/job_manifests.h"

namespace rekindle::checkpoint {
namespace {

int ToNumber(const std::string& name) {
  int number = 0;
  // The name of a generation's mark must be a number without sign, space or leading zero, so that no two names stand
  // for one number.
  return absl::SimpleAtoi(name, &number) && number > 0 && absl::StrCat(number) == name ? number : 0;
}

int HighestOf(const std::vector<std::string>& names) {
  int highest = 0;
  for (const std::string& name : names) highest = std::max(highest, ToNumber(name));
  return highest;
}

}  // namespace

absl::StatusOr<int> GenerationMarks::Highest() {
  if (absl::Status status = folder_.Check(); !status.ok()) return status;
  const auto names = folder_.backend().List(folder_.Generations());
  if (!names.ok()) return names.status();
  return HighestOf(*names);
}

absl::StatusOr<int> GenerationMarks::Newest() {
  const absl::StatusOr<int> highest = Highest();
  if (!highest.ok()) return highest;
  const auto names = JobManifests(folder_).Names();
  if (!names.ok()) return names.status();
  return names->empty() ? *highest : std::max(*highest, names->front().generation);
}

absl::Status GenerationMarks::Check(int generation) {
  const absl::StatusOr<int> highest = Highest();
  if (!highest.ok()) return highest.status();
  if (*highest <= generation) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("generation ", generation, " is over: generation ", *highest,
                                                    " of the job has begun from a checkpoint of this store"));
}

absl::Status GenerationMarks::CheckNewest(int generation) {
  const auto names = JobManifests(folder_).Names();
  if (!names.ok()) return names.status();
  if (!names->empty() && names->front().generation > generation) {
    return absl::FailedPreconditionError(
        absl::StrCat("generation ", generation, " is over: the store has ", FormatName(names->front())));
  }
  return Check(generation);
}

absl::Status GenerationMarks::Begin(int generation) {
  if (generation <= 0) return absl::InvalidArgumentError("a generation's number is at least 1");
  if (absl::Status status = Check(generation); !status.ok()) return status;
  const std::string path = absl::StrCat(folder_.Generations(), "/", generation);
  if (absl::Status status = folder_.backend().Put(path, "begun\n"); !status.ok()) return status;
  // The check for higher generations is repeated, because two generations may begin at the same time.
  return Check(generation);
}

absl::Status GenerationMarks::ForgetOld() {
  const auto names = folder_.backend().List(folder_.Generations());
  if (!names.ok()) return names.status();
  const int highest = HighestOf(*names);
  for (const std::string& name : *names) {
    const int number = ToNumber(name);
    if (number == 0 || number == highest) continue;
    const std::string path = absl::StrCat(folder_.Generations(), "/", name);
    if (absl::Status status = folder_.backend().Remove(path); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace rekindle::checkpoint
