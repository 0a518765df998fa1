// Fills in and checks the checkpoint section of a job's spec.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/objects/object_uri.h"
#include "common/text/duration.h"
#include "coordinator/spec/job_spec.h"
#include "coordinator/spec/spec_checker.h"

namespace rekindle::coordinator {
namespace {

constexpr double kMaxCheckpointSeconds = 7 * 24 * 3600;
constexpr double kMaxInterruptionsPerHour = 3600;
constexpr int kMaxKept = 1000;
constexpr double kLeastArchiveSeconds = 3600;

void CheckWhen(Checker& check, const v1::JobSpec::Checkpoint& checkpoint) {
  check.Range("spec.checkpoint.every_steps", checkpoint.every_steps(), 0, kMaxSteps);
  if (checkpoint.has_every_seconds()) {
    check.Range("spec.checkpoint.every_seconds", checkpoint.every_seconds(), 1, kMaxCheckpointSeconds);
  }
  if (!checkpoint.interval().empty()) check.OneOf("spec.checkpoint.interval", checkpoint.interval(), {"auto"});
  std::vector<std::string> given;
  if (checkpoint.has_every_steps()) given.push_back("every_steps");
  if (checkpoint.has_every_seconds()) given.push_back("every_seconds");
  if (!checkpoint.interval().empty()) given.push_back("interval");
  check.Require(given.size() <= 1, absl::StrCat("spec.checkpoint.", given.empty() ? "" : given.back()),
                absl::StrCat("is one way too many to say when (", absl::StrJoin(given, " and "),
                             "): keep one of every_steps, every_seconds and interval"));
  if (!checkpoint.has_interruptions_per_hour()) return;
  check.Range("spec.checkpoint.interruptions_per_hour", checkpoint.interruptions_per_hour(), 0,
              kMaxInterruptionsPerHour);
  check.Require(checkpoint.interval() == "auto", "spec.checkpoint.interruptions_per_hour",
                "is used by spec.checkpoint.interval 'auto' alone: set that in place of every_steps or every_seconds, "
                "or remove this",
                {"spec.checkpoint.interval"});
}

void CheckArchiveIsApart(Checker& check, const v1::JobSpec::Checkpoint& checkpoint) {
  check.Require(checkpoint.archive_store() != checkpoint.store(), "spec.checkpoint.archive_store",
                "is spec.checkpoint.store: name another one, with a colder storage class", {"spec.checkpoint.store"});
}

void CheckRetention(Checker& check, const v1::JobSpec& written, const v1::JobSpec& spec) {
  const auto& checkpoint = spec.checkpoint();
  check.Range("spec.checkpoint.keep_last", checkpoint.keep_last(), 1, kMaxKept);
  check.Range("spec.checkpoint.keep_every", checkpoint.keep_every(), 0, kMaxSteps);
  check.Range("spec.checkpoint.keep_best", checkpoint.keep_best(), 0, kMaxKept);
  check.Require(checkpoint.keep_best() == 0 || spec.training().evaluate_every() > 0, "spec.checkpoint.keep_best",
                "needs evaluations to compare: set spec.training.evaluate_every above 0",
                {"spec.training.evaluate_every"});
  if (checkpoint.archive_store().empty()) {
    check.Require(checkpoint.archive_after().empty(), "spec.checkpoint.archive_after",
                  "needs a place to archive to: set spec.checkpoint.archive_store", {"spec.checkpoint.archive_store"});
    return;
  }
  CheckStore(check, "spec.checkpoint.archive_store", checkpoint.archive_store());
  if (!written.checkpoint().store().empty()) CheckArchiveIsApart(check, checkpoint);
  const auto after = common::ParseDuration(checkpoint.archive_after());
  check.Require(after.ok(), "spec.checkpoint.archive_after", std::string(after.status().message()));
  check.Require(!after.ok() || *after >= kLeastArchiveSeconds, "spec.checkpoint.archive_after",
                "is too short, as a restore needs the newest one hot: use 1h or more");
}

}  // namespace

void CheckCheckpoint(Checker& check, const v1::JobSpec& written, const v1::JobSpec& spec) {
  const auto& checkpoint = spec.checkpoint();
  CheckWhen(check, checkpoint);
  check.OneOf("spec.checkpoint.precision", checkpoint.precision(), {"exact", "fp16", "bf16"});
  check.Require(!checkpoint.allow_nonfinite() || checkpoint.precision() == "exact", "spec.checkpoint.allow_nonfinite",
                "needs spec.checkpoint.precision 'exact': 16 bits do not hold every NaN and infinity",
                {"spec.checkpoint.precision"});
  check.Range("spec.checkpoint.memory_every_steps", checkpoint.memory_every_steps(), 0, kMaxSteps);
  if (TakesCheckpoints(checkpoint) || !checkpoint.store().empty() || checkpoint.memory_every_steps() > 0) {
    CheckStore(check, "spec.checkpoint.store", checkpoint.store());
  }
  CheckRetention(check, written, spec);
}

void CheckArchiveOfDefaultStore(Checker& check, const v1::JobSpec& written, const v1::JobSpec& spec) {
  const bool has_archive = !spec.checkpoint().archive_store().empty();
  if (has_archive && written.checkpoint().store().empty()) CheckArchiveIsApart(check, spec.checkpoint());
}

void CheckStore(Checker& check, const std::string& field, const std::string& store) {
  // Only the syntax of a bucket is checked, because the coordinator has neither the credentials nor a library for
  // buckets.
  const absl::Status status = common::ParseObjectUri(store).status();
  check.Require(status.ok(), field, std::string(status.message()));
}

bool TakesCheckpoints(const v1::JobSpec::Checkpoint& checkpoint) {
  return checkpoint.every_steps() > 0 || checkpoint.has_every_seconds() || !checkpoint.interval().empty();
}

void FillCheckpoint(v1::JobSpec::Checkpoint& checkpoint, const Defaults& defaults) {
  if (checkpoint.store().empty()) checkpoint.set_store(defaults.store);
  const bool says_when =
      checkpoint.has_every_steps() || checkpoint.has_every_seconds() || !checkpoint.interval().empty();
  if (!says_when) checkpoint.set_every_steps(50);
  if (checkpoint.precision().empty()) checkpoint.set_precision("exact");
  if (checkpoint.keep_last() == 0) checkpoint.set_keep_last(2);
  if (!checkpoint.archive_store().empty() && checkpoint.archive_after().empty()) checkpoint.set_archive_after("90d");
}

}  // namespace rekindle::coordinator
