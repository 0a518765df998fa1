#include "coordinator/core/testing/status_check.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/market/prices.h"

namespace rekindle::core::simulation {
namespace {

constexpr char kPausing[] = "pausing: ";
constexpr char kStops[] = "stops at the next step boundary";
constexpr char kSums[] = " are spent; raise it";

std::string CheckMembers(const v1::JobRecord& record) {
  const v1::JobStatus& status = record.job().status();
  const auto& members = record.membership().members();
  if (status.state() != v1::RUNNING && status.state() != v1::FINISHING) {
    return status.members_size() > 0 ? "members are shown, and nobody computes" : "";
  }
  for (const v1::MemberStatus& shown : status.members()) {
    const auto is_it = [&](const auto& of) { return of.trainer() == shown.trainer(); };
    if (std::none_of(members.begin(), members.end(), is_it)) return absl::StrCat(shown.trainer(), " is no member");
    const bool is_dead = std::any_of(record.deaths().begin(), record.deaths().end(), is_it);
    if (is_dead && status.state() == v1::FINISHING) return absl::StrCat(shown.trainer(), " keeps no state any more");
  }
  if (status.state() == v1::RUNNING && status.members_size() != members.size()) return "members are left out";
  return "";
}

std::string CheckRunning(const v1::JobRecord& record, const std::string& reason) {
  const bool pausing = absl::StartsWith(reason, kPausing), stops = absl::StartsWith(reason, kStops);
  if (record.want_paused() != pausing) return pausing ? "nobody wants it paused" : "it does not say that it pauses";
  const bool halts = !record.want_paused() && !record.halt().empty();
  if (halts != stops) return stops ? "it is not to stop" : "it does not say that it is to stop";
  if (absl::StartsWith(reason, "waits") || absl::StrContains(reason, "; waits for ")) return "it runs, and waits";
  // The job was preempted where its reason begins like "kept 2: preempted by ...". Later in the reason, such words tell
  // of a node that the job had to give up earlier, and do not count.
  constexpr char kPreempted[] = ": preempted by";
  const bool preempted =
      reason.compare(std::min(reason.size(), reason.find(": ")), sizeof kPreempted - 1, kPreempted) == 0;
  return preempted && !stops ? "it runs, and was preempted" : "";
}

std::string CheckPaused(const v1::JobRecord& record, const std::string& reason) {
  if (!record.want_paused()) return "nobody wants it paused";
  if (!record.budget_stop().empty()) return absl::StrContains(reason, kSums) ? "" : "it does not say what is spent";
  if (!record.retries_stop().empty()) return reason == record.retries_stop() ? "" : "it does not say what was tried";
  const bool back = absl::StartsWith(reason, "brought back from its store");
  const bool by_user = reason == absl::StrCat("paused by the user at step ", record.job().status().step());
  return back || by_user ? "" : "it does not say who paused it, and at which step";
}

std::string CheckPending(const v1::JobRecord& record, const std::string& reason) {
  const bool pausing = absl::StartsWith(reason, kPausing), stops = absl::StartsWith(reason, kStops);
  if (record.want_paused()) return pausing ? "" : "it does not say that it pauses";
  if (!record.halt().empty())
    return stops || absl::StartsWith(reason, record.halt()) ? "" : "it does not say why it stopped";
  const bool stopped = pausing || stops || absl::StartsWith(reason, "preempted by ");
  return stopped || absl::StartsWith(reason, "paused by ") ? "nothing stops it" : "";
}

std::string CheckReason(const v1::JobRecord& record) {
  const v1::JobStatus& status = record.job().status();
  const std::string& reason = status.reason();
  if (reason.empty()) return "there is no reason";
  const v1::Cost& cost = status.cost();
  const std::string sums =
      absl::StrCat(Money(cost.spent(), cost.currency()), " of ", Money(cost.budget(), cost.currency()), kSums);
  if (absl::StrContains(reason, kSums) && !absl::StrContains(reason, sums)) return absl::StrCat("now it is ", sums);
  // Nothing is decided on a record that is older than what runs, so the rest of the status is not checked.
  if (record.has_recovered() || absl::StrContains(reason, "above the record's")) return "";
  switch (status.state()) {
    case v1::RUNNING:
      return CheckRunning(record, reason);
    case v1::PAUSED:
      return CheckPaused(record, reason);
    case v1::PENDING:
      return CheckPending(record, reason);
    case v1::FINISHING:
      return record.has_finishing() ? "" : "no final state is kept";
    default:
      break;
  }
  const bool goes_on = absl::StartsWith(reason, kPausing) || absl::StartsWith(reason, kStops) ||
                       absl::StartsWith(reason, "waits ") || absl::StartsWith(reason, "regroups: ");
  return goes_on ? "it is over" : "";
}

}  // namespace

std::string FindUntruth(const v1::JobRecord& record) {
  const v1::JobStatus& status = record.job().status();
  // A found job has no record against which its status can be checked.
  if (status.state() == v1::FOUND) return "";
  std::string untruth = CheckMembers(record);
  if (untruth.empty() && status.step() < status.checkpoint_step()) {
    untruth = absl::StrCat("step ", status.step(), " is shown, and checkpoint step ", status.checkpoint_step());
  }
  if (untruth.empty()) untruth = CheckReason(record);
  if (untruth.empty()) return "";
  return absl::StrCat("job ", record.job().name(), " says ", v1::JobState_Name(status.state()), ", \"", status.reason(),
                      "\": ", untruth);
}

}  // namespace rekindle::core::simulation
