// Tests specs whose checkpoints are refused: each error names the field and the fix.
#include <gtest/gtest.h>

#include <limits>

#include "coordinator/testing/job_spec_testing.h"

namespace rekindle::coordinator {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(JobSpecErrors, WhereCheckpointsAreKept) {
  ExpectRefused({
      {[](auto& s) { s.mutable_checkpoint()->set_store("ftp://bucket"); },
       "spec.checkpoint.store: store 'ftp://bucket' is not supported"},
      {[](auto& s) { s.mutable_checkpoint()->set_store("s3://id:hush@bucket"); }, "must not hold credentials"},
      {[](auto& s) { s.mutable_checkpoint()->set_store("file://relative"); }, "spec.checkpoint.store"},
      {[](auto& s) { s.mutable_checkpoint()->set_keep_last(-1); }, "spec.checkpoint.keep_last"},
      {[](auto& s) { s.mutable_checkpoint()->set_keep_every(-1); }, "spec.checkpoint.keep_every: -1 is out of range"},
      {[](auto& s) { s.mutable_checkpoint()->set_keep_best(1001); }, "spec.checkpoint.keep_best: 1001 is out of range"},
      {[](auto& s) { s.mutable_checkpoint()->set_keep_best(1); },
       "spec.checkpoint.keep_best: needs evaluations to compare: set spec.training.evaluate_every"},
      {[](auto& s) { s.mutable_checkpoint()->set_archive_after("90d"); },
       "spec.checkpoint.archive_after: needs a place to archive to: set spec.checkpoint.archive_store"},
      {[](auto& s) { s.mutable_checkpoint()->set_archive_store("ftp://cold"); },
       "spec.checkpoint.archive_store: store 'ftp://cold' is not supported"},
      {[](auto& s) { s.mutable_checkpoint()->set_archive_store(kDefaults.store); },
       "spec.checkpoint.archive_store: is spec.checkpoint.store: name another one"},
      {[](auto& s) {
         s.mutable_checkpoint()->set_archive_store("s3://cold");
         s.mutable_checkpoint()->set_archive_after("90 days");
       },
       "spec.checkpoint.archive_after: '90 days' is no duration: use a number and one of d, h, m and s, as 90d"},
      {[](auto& s) {
         s.mutable_checkpoint()->set_archive_store("s3://cold");
         s.mutable_checkpoint()->set_archive_after("59m");
       },
       "spec.checkpoint.archive_after: is too short"},
  });
}

TEST(JobSpecErrors, WhenCheckpointsAreSaved) {
  ExpectRefused({
      {[](auto& s) { s.mutable_checkpoint()->set_every_steps(-1); }, "spec.checkpoint.every_steps"},
      {[](auto& s) { s.mutable_checkpoint()->set_every_seconds(0); },
       "spec.checkpoint.every_seconds: 0 is out of range: use 1 to 604800"},
      {[](auto& s) { s.mutable_checkpoint()->set_every_seconds(kNan); }, "spec.checkpoint.every_seconds: nan"},
      {[](auto& s) { s.mutable_checkpoint()->set_interval("atuo"); },
       "spec.checkpoint.interval: 'atuo' is not supported; did you mean 'auto'?"},
      {[](auto& s) {
         s.mutable_checkpoint()->set_every_steps(10);
         s.mutable_checkpoint()->set_every_seconds(60);
       },
       "spec.checkpoint.every_seconds: is one way too many to say when (every_steps and every_seconds): keep one of"},
      {[](auto& s) {
         s.mutable_checkpoint()->set_every_steps(0);
         s.mutable_checkpoint()->set_interval("auto");
       },
       "spec.checkpoint.interval: is one way too many to say when (every_steps and interval)"},
      {[](auto& s) { s.mutable_checkpoint()->set_interruptions_per_hour(1); },
       "spec.checkpoint.interruptions_per_hour: is used by spec.checkpoint.interval 'auto' alone"},
      {[](auto& s) {
         s.mutable_checkpoint()->set_interval("auto");
         s.mutable_checkpoint()->set_interruptions_per_hour(-1);
       },
       "spec.checkpoint.interruptions_per_hour: -1 is out of range"},
      {[](auto& s) { s.mutable_checkpoint()->set_precision("exakt"); },
       "spec.checkpoint.precision: 'exakt' is not supported; did you mean 'exact'?"},
      {[](auto& s) {
         s.mutable_checkpoint()->set_precision("bf16");
         s.mutable_checkpoint()->set_allow_nonfinite(true);
       },
       "spec.checkpoint.allow_nonfinite: needs spec.checkpoint.precision 'exact'"},
  });
}

}  // namespace
}  // namespace rekindle::coordinator
