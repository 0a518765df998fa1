#include "coordinator/core/generation/final_state_status.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/members/last_holders.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr double kAlertSeconds = 24 * 3600;

std::string DescribeFinal(const Job& job) {
  const auto& finishing = job.record.finishing();
  const std::string what = absl::StrCat("the final checkpoint, of step ", finishing.step());
  if (finishing.error().empty()) return absl::StrCat(what, ", is to be saved to ", WhereFinalGoes(job));
  return absl::StrCat(what, ", could not be saved to ", WhereFinalGoes(job), ": ", finishing.error());
}

std::string WaysOut(const Job& job) {
  const std::string& name = job.record.job().name();
  return absl::StrCat("`rekindle resume ", name, " --store URI` saves it elsewhere, `rekindle cancel ", name,
                      " --discard` gives it up");
}

std::string Keepers(const Job& job) {
  std::vector<std::string> names;
  for (const v1::Member& member : job.record.membership().members()) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer == nullptr || trainer->death.empty()) names.push_back(ShortName(member.trainer()));
  }
  return absl::StrCat(JoinWords(names), names.size() == 1 ? " keeps" : " keep", " the state");
}

// Removes members that are gone from the status, as they are not needed to keep the state.
void ForgetGoneMembers(Job& job) {
  auto* members = job.record.mutable_job()->mutable_status()->mutable_members();
  members->erase(std::remove_if(members->begin(), members->end(),
                                [&](const v1::MemberStatus& member) {
                                  const Trainer* trainer = FindTrainer(job, member.trainer());
                                  return trainer != nullptr && !trainer->death.empty();
                                }),
                 members->end());
}

}  // namespace

std::string WhereFinalGoes(const Job& job) {
  return job.record.final_store().empty() ? SpecOf(job).checkpoint().store() : job.record.final_store();
}

void ShowFinal(Turn& turn, Job& job) {
  const auto& finishing = job.record.finishing();
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  v1::FinishingStatus* shown = status->mutable_finishing();
  shown->set_since(finishing.since());
  shown->set_error(finishing.error());
  shown->set_tries(finishing.tries());
  shown->set_next_try(job.active ? 0 : finishing.next_try());
  shown->set_spent(std::max(0.0, status->cost().spent() - finishing.spent_before()));
  ForgetGoneMembers(job);
  SetState(turn, job, v1::FINISHING, absl::StrCat(DescribeFinal(job), "; ", Keepers(job)));
  status->set_last_event(status->reason());
  turn.Wake(job, AtUnix(turn, finishing.told_at() + kTellSavesSeconds));
}

void TellOfFinal(Turn& turn, Job& job, const std::string& what) {
  v1::JobRecord::Finishing* finishing = job.record.mutable_finishing();
  finishing->set_told_at(UnixNow(turn));
  turn.Save(job);
  const double seconds = UnixNow(turn) - finishing->since();
  turn.Emit(
      &job, seconds >= kAlertSeconds ? "finishing_alert" : "finishing",
      absl::StrCat(what, DescribeFinal(job), "; ", Keepers(job), " meanwhile; it is tried again; ", WaysOut(job)));
}

absl::Status RefuseToStop(const Job& job) {
  return absl::FailedPreconditionError(absl::StrCat("job ", job.record.job().name(), " has made all its steps, and ",
                                                    DescribeFinal(job), "; nothing trains any more: ", WaysOut(job)));
}

}  // namespace rekindle::core
