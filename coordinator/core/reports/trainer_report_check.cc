#include "coordinator/core/reports/trainer_report_check.h"

#include "absl/strings/str_cat.h"
#include "checkpoint/format/framed_job_file.h"
#include "common/agreed/agreed_limits.h"
#include "common/agreed/amounts.h"
#include "common/agreed/version.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/record/record_age.h"

namespace rekindle::core {
namespace {

constexpr size_t kMaxName = 300, kMaxText = 64 << 10;

// Returns what is malformed in what a report says of its machine and GPU, or an empty string.
std::string FindFlawOfMachine(const v1::TrainerReport& report) {
  const v1::Machine& machine = report.process().machine();
  if (machine.boot().size() > kMaxName || machine.processes().size() > kMaxName ||
      machine.hardware().size() > kMaxName) {
    return "boot, processes or hardware of its machine are longer than 300 bytes";
  }
  const v1::TrainerDevice& device = report.device();
  if (device.uuid().size() > kMaxName || device.no_nccl().size() > kMaxText || device.nccl_version() < 0) {
    return "the name of its GPU or its words on NCCL are too long, or NCCL's version is negative";
  }
  return "";
}

// Returns what makes a trainer's report malformed, or an empty string.
std::string FindFlaw(const Job& job, const v1::TrainerReport& report) {
  if (report.trainer().empty() || report.trainer().size() > kMaxName || report.node().empty() ||
      report.node().size() > kMaxName || report.address().size() > kMaxName || report.host().size() > kMaxName) {
    return "trainer, node, address or host is missing or longer than 300 bytes";
  }
  if (std::string flaw = FindFlawOfMachine(report); !flaw.empty()) return flaw;
  if (report.held_blocks_size() > 2 * static_cast<int>(kMaxTrainers) || report.held_blocks_size() % 2 != 0 ||
      report.total_blocks() < 0) {
    return "held_blocks are no pairs of at most 4096 ranges";
  }
  constexpr size_t kMaxMembership = 256 << 10;
  if (report.generation() - int64_t{job.record.membership().generation()} > kMostAhead) {
    return absl::StrCat("its generation is more than ", kMostAhead, " above the newest");
  }
  if (report.job_file().size() > checkpoint::kMaxJobFileBytes) return "its job's file is too large";
  if (report.membership().ByteSizeLong() > kMaxMembership) return "its membership is too large";
  // The record does not know the size of a micro-batch in a generation above its own. It may be as small as one sample,
  // so there may be as many micro-batches as samples.
  const bool is_ahead = report.generation() > job.record.membership().generation();
  if (report.assigned_size() > (is_ahead ? SpecOf(job).training().global_batch() : MicroBatches(job))) {
    return "assigned names more micro-batches than the job has";
  }
  if (report.accusations_size() > 1000 || report.losses_size() > 100'000 || report.error().size() > kMaxText ||
      report.traceback().size() > kMaxText) {
    return "too many accusations or losses, or too long an error";
  }
  if (!common::IsAmount(report.micro_batch_seconds()) || !common::IsAmount(report.step_seconds()) ||
      !common::IsAmount(report.step_seconds_p99()) || !common::IsAmount(report.tokens_per_second()) ||
      !common::IsAmount(report.learning_rate()) || !common::IsAmount(report.checkpoint_interval_seconds())) {
    return "a time or rate is negative or not finite";
  }
  // A micro-batch may take from `kShortest` to `kLongest` seconds.
  constexpr double kShortest = 1e-7, kLongest = 1e6;
  if (report.micro_batch_seconds() != 0 &&
      (report.micro_batch_seconds() < kShortest || report.micro_batch_seconds() > kLongest)) {
    return "micro_batch_seconds cannot be meant";
  }
  if (report.step() < 0 || report.attempt() < 0 || report.generation() < 0 || report.completed_step() < 0) {
    return "step, attempt or generation is negative";
  }
  if (report.micro_batch() < common::kSearchingMicroBatch || !common::IsAmount(report.micro_batch_search_seconds())) {
    return "its micro-batch size or the seconds of its search are negative";
  }
  return "";
}

}  // namespace

std::string FindRefusal(const Job& job, const v1::TrainerReport& report) {
  if (report.job_secret() != job.record.secret()) {
    return absl::StrCat("the job secret is wrong for job ", job.record.job().name(),
                        "; trainers get it from their agent only");
  }
  if (report.protocol_version() != common::kProtocolVersion) {
    return absl::StrCat("the trainer speaks protocol version ", report.protocol_version(), ", the coordinator ",
                        common::kProtocolVersion, "; install the same release on both");
  }
  const std::string flaw = FindFlaw(job, report);
  return flaw.empty() ? "" : absl::StrCat("malformed report: ", flaw);
}

}  // namespace rekindle::core
