#include "coordinator/core/planning/released_slots.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "coordinator/core/planning/slot_placement.h"
#include "coordinator/core/state/core_state.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/stopping/halting.h"

namespace rekindle::core {
namespace {

std::vector<std::string> NodesOf(const JobSlots& slots, const auto& is_meant) {
  std::vector<std::string> nodes;
  for (const auto& held : slots.held) {
    for (const SlotAt& at : held) {
      if (is_meant(NameOf(at))) nodes.push_back(at.node->record.name());
    }
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace

std::vector<SlotAt> ToGive(const Job& job, const std::vector<SlotAt>& held,
                           const std::map<std::string, std::string>& before, int count) {
  std::vector<std::tuple<bool, bool, bool, int>> ranked;
  for (size_t i = 0; i < held.size(); ++i) {
    const std::string name = NameOf(held[i]);
    ranked.emplace_back(!before.count(name), held[i].node->record.hint().empty(), LivesAt(job, name),
                        -static_cast<int>(i));
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<SlotAt> out;
  for (int i = 0; i < count; ++i) out.push_back(held[-std::get<3>(ranked[i])]);
  return out;
}

bool GiveSlot(Job& job, const SlotAt& at, const std::string& why) {
  const std::string name = NameOf(at);
  if (!LivesAt(job, name)) {
    at.node->slots.erase(at.slot);
    return false;
  }
  job.giving_up[name] = why;
  return true;
}

void PutOff(JobSlots& slots) {
  for (const auto& held : slots.held) {
    for (const SlotAt& at : held) {
      if (!slots.before.count(NameOf(at))) slots.job->giving_up.erase(NameOf(at));
    }
  }
}

void TellKept(Turn& turn, const JobSlots& slots) {
  Job& job = *slots.job;
  if (slots.before.empty()) return;
  const std::vector<std::string> kept = NodesOf(slots, [&](const std::string& name) {
    return slots.before.count(name) && !job.giving_up.count(name) && LivesAt(job, name);
  });
  if (!kept.empty()) GoOn(turn, job, absl::StrCat("keeps ", JoinWords(kept), " after all: there is room again"));
}

std::vector<std::string> NewlyGiven(const JobSlots& slots) {
  if (slots.job->giving_up.empty()) return {};
  return NodesOf(
      slots, [&](const std::string& name) { return slots.job->giving_up.count(name) && !slots.before.count(name); });
}

}  // namespace rekindle::core
