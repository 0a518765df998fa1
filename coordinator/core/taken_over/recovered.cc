#include "coordinator/core/taken_over/recovered.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest/sha256.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/core/record/store_search.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/taken_over/fresh_start.h"
#include "coordinator/core/taken_over/revival.h"

namespace rekindle::core {
namespace {

void ShowBroughtBack(const Turn& turn, Job& job, const std::string& reason) {
  SetState(turn, job, v1::PAUSED, reason);
  job.record.mutable_decided()->set_brought_back(true);
}

}  // namespace

void TakeOldSecret(const Turn& turn, Job& job, const std::string& secret) {
  if (!AwaitsOld(job) || secret == job.record.secret()) return;
  const std::string& awaited = job.record.recovered().secret_sha256();
  if (awaited.empty() || common::Sha256Hex(secret) != awaited) return;
  job.record.set_secret(secret);
  job.record.mutable_recovered()->clear_secret_sha256();
  turn.Save(job);
}

void NoteStranger(const Turn& turn, Job& job, const std::string& trainer) {
  const std::string& name = job.record.job().name();
  ShowBroughtBack(turn, job,
                  absl::StrCat(kBroughtBack, "; trainer ", ShortName(trainer), " was heard of, whose secret is ",
                               "another than the store's: nobody can take it over; where it still runs, end it, then "
                               "`rekindle resume ",
                               name, " --old-is-gone`"));
}

void ShowAwaitedOld(const Turn& turn, Job& job) {
  if (!AwaitsOld(job) || job.record.decided().brought_back()) return;
  const std::string& flaw = job.record.recovered().flaw();
  const std::string why = flaw.empty() ? kBroughtBack : absl::StrCat("set aside: its record cannot be right: ", flaw);
  ShowBroughtBack(turn, job, DescribeBroughtBack(why, job.record.job().name(), /*old_is_gone=*/false));
}

std::string DescribeAwaitedOld(const Job& job) {
  const std::string& name = job.record.job().name();
  const bool from_store = job.record.recovered().flaw().empty();
  return absl::StrCat("job ", name, from_store ? " was brought back from its store" : " is set aside",
                      ", and nobody has said that its trainers of before have stopped; they are taken over when they "
                      "are heard of; `rekindle resume ",
                      name, " --old-is-gone` where none of them runs any more");
}

absl::Status GiveOldUp(Turn& turn, Job& job) {
  if (!job.ahead.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("trainers of job ", job.record.job().name(),
                                                      " are heard of, and ",
                                                      "are being taken over: ", job.record.job().status().reason()));
  }
  PassUnseen(&job.record);
  // The job stays paused until its user lets it go on.
  job.record.set_want_paused(true);
  ForgetOld(turn, job);
  StartWaitingAnew(turn, job);
  AskToLook(turn, job);
  turn.Emit(&job, "old_given_up", "none of its trainers of before runs any more, its user says");
  return absl::OkStatus();
}

}  // namespace rekindle::core
