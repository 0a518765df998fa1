#include "coordinator/core/record/found_jobs.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/format/framed_job_file.h"

namespace rekindle::core {
namespace {

// This many nodes read the store of a found job, because a single node may be unable to reach the store.
constexpr int kReaders = 3;

}  // namespace

bool ReadsStoreOf(const State& state, const std::string& node, const FoundJob& job) {
  if (job.record.secret().empty()) return false;
  int readers = 0;
  for (const auto& [other, trainers] : job.running) {
    if (other == node) return true;
    const auto known = state.nodes.find(other);
    readers += known != state.nodes.end() && known->second.reported && !known->second.lost;
    // The loop ends as soon as enough other nodes read the store. A job may run on thousands of nodes, and this
    // function is called for each of them.
    if (readers == kReaders) return false;
  }
  return false;
}

std::vector<std::string> StoresToRead(const State& state, const std::string& node) {
  std::vector<std::string> first, again;
  for (const auto& [uid, job] : state.found) {
    if (ReadsStoreOf(state, node, job)) (job.stored.empty() ? first : again).push_back(uid);
  }
  // Found jobs whose store was read before come last in the list, so that the list has room for the others.
  first.insert(first.end(), again.begin(), again.end());
  if (first.size() > checkpoint::kMostStoredJobs) first.resize(checkpoint::kMostStoredJobs);
  return first;
}

bool IsLeftAlone(const State& state, const NodeState& node, int slot) {
  const auto held = node.slots.find(slot);
  if (held == node.slots.end() || state.jobs.count(held->second) > 0) return false;
  return std::any_of(node.report.trainers().begin(), node.report.trainers().end(),
                     [&](const v1::TrainerProcess& process) {
                       return process.running() && process.slot() == slot && process.job_uid() == held->second;
                     });
}

const FoundJob* FindFound(const State& state, const std::string& name_or_uid) {
  const auto by_uid = state.found.find(name_or_uid);
  if (by_uid != state.found.end()) return &by_uid->second;
  for (const auto& [uid, job] : state.found) {
    if (job.record.job().name() == name_or_uid) return &job;
  }
  return nullptr;
}

}  // namespace rekindle::core
