#include "worker/agent/trainers/left_alone.h"

#include <utility>

#include "common/log/log.h"
#include "worker/agent/trainers/trainer_launch.h"

namespace rekindle::agent {

void LeftAlone::Take(const v1::NodeDirective& directive, const std::map<int, std::string>& running) {
  const std::set<std::string> uids(directive.leave_alone().begin(), directive.leave_alone().end());
  to_read_ = {directive.read_stored().begin(), directive.read_stored().end()};
  wanted_.clear();
  for (const auto& [slot, uid] : running) {
    if (!uids.contains(uid) || wanted_.contains(uid)) continue;
    absl::StatusOr<v1::DesiredTrainer> wanted = ReadJobFile(*folder_, uid, slot);
    if (wanted.ok()) {
      wanted_[uid] = *std::move(wanted);
    } else {
      log::Warning("what was wanted of a trainer cannot be told",
                   {{"job_uid", uid}, {"error", std::string(wanted.status().message())}});
    }
  }
}

std::map<std::string, std::string> LeftAlone::StoresToRead() const {
  std::map<std::string, std::string> stores;
  for (const auto& [uid, wanted] : wanted_) {
    const std::string& store = wanted.spec().checkpoint().store();
    if (to_read_.contains(uid) && !store.empty()) stores[uid] = store;
  }
  return stores;
}

void LeftAlone::Report(v1::NodeReport* report) const {
  for (const auto& [uid, wanted] : wanted_) *report->add_left_alone() = wanted;
}

}  // namespace rekindle::agent
