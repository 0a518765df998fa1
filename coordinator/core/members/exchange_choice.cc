#include "coordinator/core/members/exchange_choice.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/members/candidates.h"
#include "coordinator/core/members/deaths.h"
#include "coordinator/core/members/suspicion.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

bool MadeAStep(const Job& job) { return job.record.job().status().step() > job.record.membership().step(); }

// Returns a member in which NCCL has failed in the newest generation, if nobody can be blamed for that. Otherwise
// returns null.
const Trainer* FindFailedByNccl(const Job& job, const std::vector<MemberView>& views) {
  const std::optional<std::vector<Charge>> charges = FindCharges(job, views);
  if (!charges || !charges->empty()) return nullptr;
  const auto failed = std::find_if(views.begin(), views.end(), [&](const MemberView& view) {
    const v1::TrainerReport& report = view.trainer->report;
    return report.generation() == job.record.membership().generation() && report.device().nccl_failed();
  });
  return failed == views.end() ? nullptr : failed->trainer;
}

bool HasLeftNccl(const Job& job, const std::string& id) {
  const Trainer* trainer = FindTrainer(job, id);
  return trainer != nullptr && trainer->report.device().nccl_left();
}

// Returns whether the other members of the newest generation have all of the state without the one of this rank.
bool HoldWithout(const v1::Membership& membership, int rank) {
  return membership.members_size() > 1 &&
         std::all_of(membership.shards().begin(), membership.shards().end(),
                     [rank](const v1::ShardHolders& shard) { return shard.first() != rank || shard.second() != rank; });
}

enum class Processes { kAsTheyAre, kRenewed };

// Chooses the transport of the members, as they are or as if those that have left NCCL had started anew.
TransportChoice Choose(const Turn& turn, const Job& job, const v1::Membership& next, Processes processes) {
  // `devices` has the device that each member reports. With kRenewed the mark that a member has left NCCL is cleared.
  std::vector<v1::TrainerDevice> devices(static_cast<size_t>(next.members_size()));
  std::vector<ExchangingMember> members;
  for (int i = 0; i < next.members_size(); ++i) {
    const Trainer* trainer = FindTrainer(job, next.members(i).trainer());
    const bool has_gpu = trainer != nullptr && trainer->report.has_device();
    v1::TrainerDevice& device = devices[static_cast<size_t>(i)];
    if (has_gpu) device = trainer->report.device();
    if (processes == Processes::kRenewed) device.clear_nccl_left();
    members.push_back({ShortName(next.members(i).trainer()), has_gpu ? &device : nullptr});
  }
  TransportChoice choice = ChooseTransport(members);
  if (choice.transport == v1::TRANSPORT_NCCL && turn.now < AtUnix(turn, job.record.host_until())) {
    return {.reason = job.record.host_reason()};
  }
  choice.reason = Bounded(choice.reason);
  return choice;
}

// Returns whether one of `members` members may start anew now.
bool MayRenew(const Turn& turn, const Job& job, int members) {
  const bool any_left = turn.now >= job.renewals_since + kHostSeconds || job.renewals < members;
  return any_left && !IsFinishing(job) && !MustStop(job) && members >= DesiredWorkers(turn.state, job) &&
         members > MinWorkers(job);
}

}  // namespace

TransportChoice TransportOf(const Turn& turn, const Job& job, const v1::Membership& next) {
  return Choose(turn, job, next, Processes::kAsTheyAre);
}

void ShowExchange(Turn& turn, Job& job, const TransportChoice& choice) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  std::string exchange = choice.transport == v1::TRANSPORT_NCCL ? "by NCCL" : "";
  if (!choice.reason.empty()) {
    exchange = absl::StrCat("over their hosts: ", choice.reason);
    if (exchange != status->exchange()) turn.Emit(&job, "host_exchange", absl::StrCat("the GPUs exchange ", exchange));
  }
  status->set_exchange(exchange);
}

std::string WhyUseNcclAgain(Turn& turn, Job& job) {
  const v1::Membership& membership = job.record.membership();
  if (membership.transport() == v1::TRANSPORT_NCCL) return "";
  const double host_until = AtUnix(turn, job.record.host_until());
  if (turn.now < host_until) turn.Wake(job, host_until);
  if (TransportOf(turn, job, membership).transport == v1::TRANSPORT_NCCL) return "NCCL is tried again";
  if (Choose(turn, job, membership, Processes::kRenewed).transport != v1::TRANSPORT_NCCL) return "";
  for (const v1::Member& member : membership.members()) {
    if (!HasLeftNccl(job, member.trainer()) || !HoldWithout(membership, member.rank())) continue;
    if (MayRenew(turn, job, membership.members_size())) {
      return absl::StrCat(ShortName(member.trainer()), " starts anew to use NCCL again");
    }
    turn.Wake(job, job.renewals_since + kHostSeconds);
  }
  return "";
}

bool ReleaseToRenew(const Turn& turn, Job& job, std::vector<Candidate>& pool) {
  const Candidate* best = FindBest(pool);
  const v1::Membership& membership = job.record.membership();
  if (best == nullptr || !MayRenew(turn, job, static_cast<int>(pool.size()))) return false;
  if (Choose(turn, job, membership, Processes::kRenewed).transport != v1::TRANSPORT_NCCL) return false;
  for (size_t i = 0; i < pool.size(); ++i) {
    if (!HasLeftNccl(job, pool[i].trainer)) continue;
    std::vector<Candidate> others = pool;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Candidate* kept = FindBest(others);
    if (kept == nullptr || std::tie(kept->step, kept->attempt) != std::tie(best->step, best->attempt)) continue;
    RecordRelease(
        turn, job, pool[i].trainer,
        absl::StrCat("trainer ", ShortName(pool[i].trainer), " starts anew, as an abort of NCCL did not end"));
    if (turn.now >= job.renewals_since + kHostSeconds) {
      job.renewals = 0;
      job.renewals_since = turn.now;
    }
    ++job.renewals;
    pool = std::move(others);
    return true;
  }
  return false;
}

void CountNcclFailure(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  const v1::Membership& membership = job.record.membership();
  v1::JobRecord& record = job.record;
  if (membership.transport() != v1::TRANSPORT_NCCL || membership.generation() <= record.nccl_failed_generation())
    return;
  const Trainer* failed = FindFailedByNccl(job, views);
  if (failed == nullptr || MadeAStep(job)) return record.clear_nccl_failures();
  record.set_nccl_failed_generation(membership.generation());
  record.set_nccl_failures(record.nccl_failures() + 1);
  turn.Save(job);
  if (record.nccl_failures() < kMostNcclFailures) return;
  record.set_host_until(UnixNow(turn) + kHostSeconds);
  record.set_host_reason(
      absl::StrCat("NCCL failed in ", record.nccl_failures(),
                   " generations in a row, and no rank was to blame: ", Bounded(DescribeInterruption(*failed))));
  record.clear_nccl_failures();
}

void ForgetNcclFailures(Job& job) {
  if (job.record.membership().transport() == v1::TRANSPORT_NCCL && MadeAStep(job)) job.record.clear_nccl_failures();
}

}  // namespace rekindle::core
