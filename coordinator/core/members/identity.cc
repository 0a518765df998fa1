#include "coordinator/core/members/identity.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/spec/spec_words.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/keeping/remembered.h"
#include "coordinator/core/members/deaths.h"
#include "coordinator/core/state/own_code.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// At most this many bytes of a fingerprint or digest are kept and shown.
constexpr size_t kMaxValue = 100;
constexpr double kLookAgainSeconds = 30;
// A message names at most this many nodes of each group of nodes with equal values.
constexpr size_t kMaxNodesNamed = 10;

// Groups maps a fingerprint or digest to the slots whose trainers have reported it.
using Groups = std::map<std::string, std::vector<std::string>>;

// Returns what trainers with another fingerprint have to do.
std::string WayToEqualData(const Job& job) {
  if (!TrainsOwnModel(SpecOf(job))) return "put the same files on every node";
  return "its task gives other samples or another number of them, or other initial weights, buffers or parameters: put "
         "the same code and files on every node, and draw random numbers in the task only from "
         "generators that Rekindle seeds";
}

// Returns that workers with these groups of digests compute differently, and what to do. A user's own model is probed
// on samples of its own data, so its digest depends on those, too.
std::string DescribeArithmetic(const Job& job, const std::string& groups) {
  if (!TrainsOwnModel(SpecOf(job))) {
    return absl::StrCat("the workers' arithmetic differs, and `reduce: exact` needs it to be equal: probe ", groups,
                        "; drain all nodes but those of one kind");
  }
  return absl::StrCat("the workers' first samples or their arithmetic differ, and `reduce: exact` needs both to be ",
                      "equal: probe ", groups,
                      "; put the same data, code and packages on every node, or drain all nodes but those with one ",
                      "kind of processor");
}

bool IsExact(const Job& job) { return common::ReduceOf(SpecOf(job).training().reduce()) == common::Reduce::kExact; }

// Returns whether the identity that a trainer in the slot has reported still counts. It counts even if the trainer
// starts anew, but not if the node leaves or the slot serves another job.
bool StillCounts(const State& state, const Job& job, const std::string& slot) {
  const auto node = state.nodes.find(NodeOf(AnyTrainerOf(slot)));
  if (node == state.nodes.end() || node->second.lost || node->second.record.draining()) return false;
  return job.giving_up.count(slot) == 0 && Serves(node->second, SlotOf(AnyTrainerOf(slot)), job);
}

// Groups the job's slots by the fingerprint of their data, or by the digest of their arithmetic. Returns no groups
// where the arithmetic does not matter to the job.
Groups GroupBy(const Job& job, bool by_data) {
  Groups groups;
  if (!by_data && !IsExact(job)) return groups;
  for (const v1::JobRecord::Identity& one : job.record.identities()) {
    groups[by_data ? one.data_fingerprint() : one.probe_digest()].push_back(one.slot());
  }
  return groups;
}

// Returns what the driver of the node calls its GPU, in brackets, or an empty string for a CPU or an unknown node.
std::string NameOfGpu(const State& state, const std::string& node) {
  const auto found = state.nodes.find(node);
  const std::string name = found == state.nodes.end() ? "" : found->second.report.device().name();
  return name.empty() ? "" : absl::StrCat(" (", Bounded(name, kMaxValue), ")");
}

std::string Describe(const State& state, const Groups& groups) {
  std::vector<std::string> words;
  for (const auto& [value, slots] : groups) {
    std::vector<std::string> named(slots.begin(), slots.begin() + std::min(slots.size(), kMaxNodesNamed));
    if (slots.size() > named.size()) named.push_back(absl::StrCat(slots.size() - named.size(), " more"));
    const std::string gpu = NameOfGpu(state, NodeOf(AnyTrainerOf(slots.front())));
    words.push_back(absl::StrCat(value, gpu, " on ", JoinWords(named)));
  }
  return JoinWords(words);
}

// Lets all READY trainers start anew, because a process keeps the data that it has read.
void StartAnew(Turn& turn, Job& job) {
  job.regroup.forming.look_again_at = turn.now + kLookAgainSeconds;
  std::vector<std::string> ready;
  for (const auto& [id, trainer] : job.trainers) {
    const bool is_ready = trainer.reported && trainer.death.empty() && trainer.report.phase() == v1::TRAINER_READY;
    if (is_ready) ready.push_back(id);
  }
  for (const std::string& id : ready) {
    RecordRelease(turn, job, id, "starts anew to read its data again: not all workers of the job have the same");
  }
  ForgetTrainers(job, turn.now);
}

}  // namespace

std::string DescribeDifference(const State& state, const Job& job, const v1::TrainerReport& report) {
  const std::string& data = job.record.data_fingerprint();
  const std::string& probe = job.record.probe_digest();
  if (!data.empty() && report.data_fingerprint() != data) {
    return absl::StrCat("its data has the fingerprint ", Bounded(report.data_fingerprint(), kMaxValue),
                        ", the job's is ", data, "; ", WayToEqualData(job));
  }
  if (IsExact(job) && !probe.empty() && report.probe_digest() != probe) {
    const auto& members = job.record.membership().members();
    const std::string theirs = members.empty() ? "" : NameOfGpu(state, NodeOf(members.begin()->trainer()));
    return absl::StrCat("its probe computes ", Bounded(report.probe_digest(), kMaxValue),
                        NameOfGpu(state, report.node()), ", the job's ", probe, theirs,
                        TrainsOwnModel(SpecOf(job))
                            ? "; exact mode needs equal samples and equal arithmetic on every node"
                            : "; exact mode needs equal arithmetic on every node");
  }
  return "";
}

void RememberIdentity(const Turn& turn, Job& job, const v1::TrainerReport& report, bool is_new) {
  if (job.record.membership().generation() > 0 || report.phase() != v1::TRAINER_READY) return;
  if (job.refused.contains(report.trainer()) || !StaleMicroBatch(job, report).empty()) return;
  // The candidate has just read its data, so the time until trainers read their data again begins anew.
  if (is_new) job.regroup.forming.look_again_at = turn.now + kLookAgainSeconds;
  v1::JobRecord::Identity identity;
  identity.set_slot(ShortName(report.trainer()));
  identity.set_data_fingerprint(Bounded(report.data_fingerprint(), kMaxValue));
  identity.set_probe_digest(Bounded(report.probe_digest(), kMaxValue));
  auto& known = *job.record.mutable_identities();
  const auto same_slot = [&](const v1::JobRecord::Identity& one) { return one.slot() == identity.slot(); };
  const auto at = std::find_if(known.begin(), known.end(), same_slot);
  if (at != known.end()) {
    *at = identity;
  } else if (static_cast<size_t>(known.size()) < kMaxTrainers) {
    *known.Add() = identity;
  }
}

std::string AwaitOneGroup(Turn& turn, Job& job) {
  if (job.record.membership().generation() > 0) return "";
  auto& known = *job.record.mutable_identities();
  known.erase(std::remove_if(known.begin(), known.end(),
                             [&](const auto& one) { return !StillCounts(turn.state, job, one.slot()); }),
              known.end());
  const Groups data = GroupBy(job, true), arithmetic = GroupBy(job, false);
  if (data.size() < 2 && arithmetic.size() < 2) return job.regroup.forming.told_groups = "";
  const std::string why =
      data.size() > 1
          ? absl::StrCat("the workers' data differ: fingerprint ", Describe(turn.state, data), "; ",
                         WayToEqualData(job),
                         ", drain the nodes with wrong ones, or submit the job again with data.fingerprint set to the "
                         "right one")
          : DescribeArithmetic(job, Describe(turn.state, arithmetic));
  if (std::exchange(job.regroup.forming.told_groups, why) != why) {
    turn.Save(job);
    turn.Emit(&job, data.size() > 1 ? "data_differs" : "arithmetic_differs", why);
  }
  if (job.regroup.forming.look_again_at == -kNever) job.regroup.forming.look_again_at = turn.now + kLookAgainSeconds;
  if (turn.now >= job.regroup.forming.look_again_at) StartAnew(turn, job);
  turn.Wake(job, job.regroup.forming.look_again_at);
  return why;
}

bool IsCompared(const Job& job, const std::string& trainer) {
  // AwaitOneGroup compares candidates with one another only before the job's first membership. After it, each trainer
  // is compared with the identity in the job's record when it reports.
  if (job.record.membership().generation() > 0) return true;
  return std::any_of(job.record.identities().begin(), job.record.identities().end(),
                     [&](const v1::JobRecord::Identity& one) { return one.slot() == ShortName(trainer); });
}

void RecordIdentity(Job& job) {
  const Trainer* first = FindTrainer(job, job.record.membership().members(0).trainer());
  if (job.record.data_fingerprint().empty()) job.record.set_data_fingerprint(first->report.data_fingerprint());
  if (job.record.probe_digest().empty()) job.record.set_probe_digest(first->report.probe_digest());
  job.record.clear_identities();
}

}  // namespace rekindle::core
