#include "coordinator/core/planning/slot_placement.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/certainty/certainty.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/members/candidates.h"
#include "coordinator/core/record/found_jobs.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/core/state/core_state.h"
#include "coordinator/core/state/own_code.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// With kAny a job also takes slots that are known to be unfit for it.
enum class Fit { kKnown, kAny };

// Gives the job up to `count` free slots, in the order of their nodes' names, and returns how many it lacks. The job
// gets no slot on a node that does not run its own code. A job that looks for the size of its micro-batch gets the
// slots with the least memory first, so that the size fits the other nodes, too.
int TakeSlots(Job& job, Fit fit, std::vector<SlotAt>& free, size_t& next, int count) {
  if (FindsMicroBatch(job)) {
    std::stable_sort(free.begin() + static_cast<std::ptrdiff_t>(next), free.end(),
                     [](const SlotAt& a, const SlotAt& b) {
                       return a.node->report.device().memory_bytes() < b.node->report.device().memory_bytes();
                     });
  }
  const scheduler::OwnCode needs = OwnCodeOf(SpecOf(job));
  for (size_t i = next; count > 0 && i < free.size(); ++i) {
    if (needs > free[i].node->runs) continue;
    if (fit == Fit::kKnown && IsUnfit(job, free[i])) continue;
    free[i].node->slots[free[i].slot] = job.record.job().uid();
    const auto at = free.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(free.begin() + static_cast<std::ptrdiff_t>(next), at, at + 1);
    ++next;
    --count;
  }
  return count;
}

// Exchanges slots that the job cannot use for free ones. Where there is no free one, the slot is kept and tried again
// and again, because its node's files may be mended.
void SwapUnfit(JobSlots& slots, const std::vector<SlotAt>& held, std::vector<SlotAt>& free, size_t& next) {
  Job& job = *slots.job;
  for (const SlotAt& at : held) {
    if (!IsUnfit(job, at) || TakeSlots(job, Fit::kKnown, free, next, 1) > 0) continue;
    at.node->slots.erase(at.slot);
    slots.placed = true;
  }
}

bool Lives(const Job& job, const v1::Member& member) {
  if (job.record.released()) return false;
  const Trainer* trainer = FindTrainer(job, member.trainer());
  return trainer == nullptr || trainer->death.empty();
}

}  // namespace

bool IsUnfit(const Job& job, const SlotAt& at) {
  if (job.unfit.empty()) return false;
  const std::string name = NameOf(at);
  return job.unfit.contains(name) && !LivesAt(job, name);
}

bool LivesAt(const Job& job, const std::string& slot) {
  const auto& members = job.record.membership().members();
  return std::any_of(members.begin(), members.end(), [&](const v1::Member& member) {
    return ShortName(member.trainer()) == slot && Lives(job, member);
  });
}

std::vector<NodeSlot> LivingSlots(const Job& job) {
  std::vector<NodeSlot> slots;
  slots.reserve(job.record.membership().members_size());
  // All members live if none of the job's trainers has died. To see that costs less than to look up each member.
  const bool all_live = !job.record.released() && std::all_of(job.trainers.begin(), job.trainers.end(),
                                                              [](const auto& t) { return t.second.death.empty(); });
  for (const v1::Member& member : job.record.membership().members()) {
    if (all_live || Lives(job, member)) slots.push_back(PlaceOf(member.trainer()));
  }
  if (!std::is_sorted(slots.begin(), slots.end())) std::sort(slots.begin(), slots.end());
  return slots;
}

bool CouldJoin(const Turn& turn, const Job& job, const std::string& slot) {
  const auto begin = job.trainers.lower_bound(slot + "/");
  for (auto it = begin; it != job.trainers.end() && ShortName(it->first) == slot; ++it) {
    if (MayJoin(turn.state, job, it->second, turn.now)) return true;
  }
  return false;
}

bool HasArrived(const Turn& turn, const Job& job, const SlotAt& at) {
  const std::string name = NameOf(at);
  return LivesAt(job, name) || CouldJoin(turn, job, name);
}

std::vector<Job*> FreeSlots(State& state) {
  // `serving` maps uids to the jobs that slots may serve. It is hashed, not ordered, because it is looked up for every
  // slot.
  std::vector<Job*> shrunk;
  absl::flat_hash_map<std::string_view, Job*> serving;
  for (auto& [uid, job] : state.jobs) {
    if (!IsOver(job) && (!job.record.released() || IsBehind(job))) serving[uid] = &job;
  }
  for (auto& [name, node] : state.nodes) {
    const size_t freed = std::erase_if(node.slots, [&, &node_name = name, &reported = node](const auto& slot) {
      const auto it = serving.find(slot.second);
      if (it == serving.end()) return !IsLeftAlone(state, reported, slot.first);
      if (reported.lost) {
        // Members on a lost node may still step for as long as nobody knows that they have ended, so their slots are
        // not free.
        return HasEnded(*it->second) || !LivesAt(*it->second, absl::StrCat(node_name, "/", slot.first));
      }
      if (reported.reported && slot.first >= reported.report.slots()) return true;
      Job& job = *it->second;
      const bool failed = FaultOf(reported.report, slot.first) != nullptr;
      // The node may have been started anew without the Python that the job needs.
      const bool unable = reported.reported && OwnCodeOf(SpecOf(job)) > reported.runs;
      if (job.giving_up.empty() && !failed && !unable) return false;
      const std::string at = absl::StrCat(node_name, "/", slot.first);
      const bool is_free = (failed || unable || job.giving_up.count(at) > 0) && !LivesAt(job, at);
      if (is_free && (failed || unable)) shrunk.push_back(&job);
      return is_free;
    });
    // A node that drains leaves once no slot on it is held, so the nodes are looked at in this turn.
    if (freed > 0 && node.record.draining()) state.watch_nodes_at = -kNever;
  }
  return shrunk;
}

void KeepTheRest(const PlanView& view, const JobSlots& slots, scheduler::JobPlan& plan) {
  const Job& job = *slots.job;
  for (scheduler::UnitView& unit : plan.units) {
    if (job.wishes.view.unit_nodes <= 1 || unit.pool == scheduler::kNone || unit.leaving != scheduler::kNone) continue;
    const std::string& pool = view.pool_names[unit.pool];
    const auto is_there = [&](const Unit& u) { return u.pool == pool && u.arrived; };
    if (std::all_of(job.wishes.units.begin(), job.wishes.units.end(), is_there)) continue;
    for (int g = 0; g < static_cast<int>(view.pool_names.size()); ++g) {
      const auto lives = [&](const SlotAt& at) { return LivesAt(job, NameOf(at)); };
      if (g != unit.pool && std::any_of(slots.held[g].begin(), slots.held[g].end(), lives)) unit.leaving = g;
    }
  }
}

std::vector<int> PlaceSlots(PlanView& view, const std::vector<scheduler::JobPlan>& plans) {
  std::vector<size_t> order(plans.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return view.demands[a].demand.priority > view.demands[b].demand.priority;
  });
  std::vector<size_t> next(view.groups.size(), 0);
  std::vector<int> missing(view.groups.size(), 0);
  for (const size_t j : order) {
    // A halted job gets no slots, because the planner has found room for fewer workers than the job needs.
    if (!view.jobs[j].job->record.halt().empty()) continue;
    for (const scheduler::Slots& s : plans[j].allotment.slots) {
      const auto held = static_cast<int>(view.jobs[j].held[s.pool].size());
      const int more = s.count - held;
      if (more <= 0) continue;
      std::vector<SlotAt>& free = view.groups[s.pool].free;
      int lacks = TakeSlots(*view.jobs[j].job, Fit::kKnown, free, next[s.pool], more);
      // In a pool that takes no orders, no node can be ordered in place of unfit ones. An unfit node that comes back
      // may have been mended, so the job takes it again.
      const bool ordered = static_cast<size_t>(s.pool) < view.ordered.size();
      if (lacks > 0 && !ordered) lacks = TakeSlots(*view.jobs[j].job, Fit::kAny, free, next[s.pool], lacks);
      view.jobs[j].placed = view.jobs[j].placed || lacks < more;
      if (lacks > 0) view.jobs[j].missing.push_back({s.pool, lacks});
      missing[s.pool] += lacks;
    }
  }
  for (const size_t j : order) {
    JobSlots& slots = view.jobs[j];
    if (slots.job->unfit.empty()) continue;
    for (size_t g = view.ordered.size(); g < slots.held.size(); ++g) {
      SwapUnfit(slots, slots.held[g], view.groups[g].free, next[g]);
    }
  }
  return missing;
}

}  // namespace rekindle::core
