#include "cli/submit/submit.h"

#include <unistd.h>

#include <iostream>

#include "cli/text/final_save.h"
#include "cli/text/job_costs.h"
#include "cli/text/job_text.h"
#include "cli/text/number_text.h"
#include "cli/text/safe_text.h"
#include "cli/watch/watch.h"
#include "common/files/users.h"

namespace rekindle::cli {
namespace {

// Returns what a cost lever (docs/levers.md) has saved, such as ", saved 120 steps, 31.5 s, 2.0M bytes". It is empty if
// nothing was saved.
std::string Saved(const v1::LeverStatus& lever) {
  std::string saved;
  if (lever.steps_saved() > 0) saved += ", " + Fixed(lever.steps_saved(), 0) + " steps";
  if (lever.seconds_saved() > 0) saved += ", " + Fixed(lever.seconds_saved(), 1) + " s";
  if (lever.bytes_saved() > 0) saved += ", " + Short(lever.bytes_saved()) + " bytes";
  return saved.empty() ? "" : ", saved " + saved.substr(2);
}

}  // namespace

void PrintJob(const Context& context, const v1::Job& job) {
  if (context.json()) {
    std::cout << ToJson(job) << "\n";
    return;
  }
  const v1::JobStatus& s = job.status();
  std::cout << job.name() << "  " << StateName(s.state()) << "  (uid " << job.uid() << ")\n";
  if (!s.reason().empty()) std::cout << "  reason       " << Printable(s.reason()) << "\n";
  std::cout << TracebackText(s);
  if (!s.owner().empty()) std::cout << "  owner        " << Printable(s.owner()) << "\n";
  std::cout << "  step         " << s.step() << " of " << s.resolved_spec().training().steps() << ", generation "
            << s.generation() << "\n";
  if (s.step() > 0) {
    const std::string unit = UnitOf(s.resolved_spec());
    std::cout << "  loss         " << Fixed(s.loss(), 4) << " a " << unit << ", " << Short(s.tokens_per_second()) << " "
              << unit << "s/s, learning rate " << s.learning_rate() << "\n";
  }
  if (s.validation_bits_per_byte() > 0) {
    std::cout << "  validation   " << Fixed(s.validation_bits_per_byte(), 4) << " bits a byte (unigram baseline "
              << Fixed(s.unigram_bits_per_byte(), 4) << ")\n";
  } else if (s.validation_loss() > 0) {
    std::cout << "  validation   " << Fixed(s.validation_loss(), 4) << " is the loss there\n";
  }
  if (s.cost().until() > 0) {
    std::cout << "  spent        " << Money(s.cost().spent(), s.cost()) << ", " << Money(s.cost().rate(), s.cost())
              << " an hour now" << (s.cost().budget() > 0 ? "; budget " + DescribeBudget(s.cost()) : "")
              << (s.cost().unpriced_node_hours() > 0 ? " (some nodes are unpriced)" : "") << "\n";
  }
  if (s.has_finishing()) std::cout << DescribeFinalSave(s);
  if (s.members_size() > 0 && !s.exchange().empty()) std::cout << "  exchange     " << Printable(s.exchange()) << "\n";
  for (const v1::MemberStatus& m : s.members()) {
    std::cout << "  rank " << m.rank() << "       " << m.trainer() << ", "
              << m.micro_batch_end() - m.micro_batch_begin() << " micro-batches from " << m.micro_batch_begin();
    if (m.micro_batch_seconds() > 0) std::cout << ", " << Fixed(1e3 * m.micro_batch_seconds(), 1) << " ms each";
    if (!m.straggler().empty()) std::cout << ", straggler (" << Printable(m.straggler()) << ")";
    if (!m.note().empty()) std::cout << ", " << Printable(m.note());
    std::cout << "\n";
  }
  for (const v1::LeverStatus& lever : s.levers()) {
    std::cout << "  lever        " << lever.lever() << " at step " << lever.step() << Saved(lever) << ": "
              << Printable(lever.text()) << "\n";
  }
  if (s.checkpoint_step() >= 0) std::cout << "  checkpoint   step " << s.checkpoint_step() << "\n";
  if (!s.final_store().empty()) std::cout << "  final store  " << Printable(s.final_store()) << "\n";
  if (!s.last_event().empty()) std::cout << "  last event   " << Printable(s.last_event()) << "\n";
  if (!s.state_digest().empty()) std::cout << "  digest       " << s.state_digest() << "\n";
}

absl::StatusOr<v1::Job> SendJob(Context& context, const v1::Job& job) {
  v1::SubmitJobRequest request;
  *request.mutable_job() = job;
  request.set_request_id(NewRequestId());
  request.set_owner(common::UserName(geteuid()));
  v1::Job submitted;
  absl::Status status = context.Call(&v1::Coordinator::StubInterface::SubmitJob, request, &submitted);
  if (!status.ok()) return status;
  WarnIfNothingIsKept(submitted);
  return submitted;
}

absl::Status FollowJob(Context& context, const v1::Job& submitted, bool wait) {
  if (!wait) {
    PrintJob(context, submitted);
    return absl::OkStatus();
  }
  v1::Job last;
  absl::Status status = WatchJob(context, submitted.uid(), &last);
  if (!status.ok()) return status;
  // With -o json WatchJob has printed the final state of the job already.
  if (!context.json()) PrintJob(context, last);
  if (last.status().state() == v1::SUCCEEDED) return absl::OkStatus();
  return absl::AbortedError("job " + last.name() + " ended as " + StateName(last.status().state()) + ": " +
                            Printable(last.status().reason()));
}

}  // namespace rekindle::cli
