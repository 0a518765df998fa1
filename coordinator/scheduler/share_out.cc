#include "coordinator/scheduler/share_out.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "coordinator/scheduler/turns.h"

namespace rekindle::scheduler {
namespace {

constexpr double kRounding = 1e-9;

int& CountOf(SlotList& slots, int pool) {
  auto at = std::lower_bound(slots.begin(), slots.end(), pool, [](const Slots& s, int p) { return s.pool < p; });
  if (at == slots.end() || at->pool != pool) at = slots.insert(at, {pool, 0});
  return at->count;
}

class Sharing {
 public:
  Sharing(const std::vector<Supply>& pools, const std::vector<Team>& teams, const std::vector<Demand>& jobs)
      : pools_(pools),
        teams_(teams),
        jobs_(jobs),
        usage_(teams.size(), 0),
        out_(jobs.size()),
        total_(jobs.size(), 0),
        ordered_(jobs.size(), 0) {
    for (const Supply& pool : pools) free_.push_back(pool.slots);
    for (const Supply& pool : pools) most_nodes_ = std::max(most_nodes_, pool.nodes_per_slot);
    preferred_ = PreferredBy(Demand());
    for (size_t j = 0; j < jobs.size(); ++j) {
      if (!jobs[j].speeds.empty()) preferred_by_[static_cast<int>(j)] = PreferredBy(jobs[j]);
    }
  }

  std::vector<Allotment> Run() {
    Keep();
    std::vector<int> order(jobs_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return jobs_[a].priority > jobs_[b].priority; });
    const auto each_priority = [&](auto serve) {
      for (auto begin = order.begin(); begin != order.end();) {
        const auto end =
            std::find_if(begin, order.end(), [&](int j) { return jobs_[j].priority != jobs_[*begin].priority; });
        serve(std::vector<int>(begin, end));
        begin = end;
      }
    };
    each_priority([this](const std::vector<int>& jobs) { Minimums(jobs); });
    each_priority([this](const std::vector<int>& jobs) { Grow(jobs); });
    for (const int j : hopeless_) Take(j, Find(j, Owned(j), jobs_[j].min - total_[j]));
    for (Allotment& allotment : out_) {
      std::erase_if(allotment.slots, [](const Slots& slots) { return slots.count == 0; });
    }
    return std::move(out_);
  }

 private:
  using PoolSet = std::vector<int>;  // In order of preference.

  // Those that are there, the fastest first; then spot, then on-demand capacity, by what its work costs.
  PoolSet PreferredBy(const Demand& job) const {
    PoolSet set(pools_.size());
    std::iota(set.begin(), set.end(), 0);
    const auto rank = [&](int p) {
      const Supply& pool = pools_[p];
      const double speed = SpeedIn(job, p);
      return std::tuple(pool.ordered, pool.ordered && pool.capacity == Capacity::kOnDemand,
                        pool.ordered ? pool.price / speed : -speed, p);
    };
    std::sort(set.begin(), set.end(), [&](int a, int b) { return rank(a) < rank(b); });
    return set;
  }
  const PoolSet& Preferred(int j) const {
    const auto own = preferred_by_.find(j);
    return own == preferred_by_.end() ? preferred_ : own->second;
  }

  bool Gang(int j) const { return jobs_[j].min == jobs_[j].max && jobs_[j].min > 1; }
  bool Takes(int j, int p) const {
    const Demand& job = jobs_[j];
    const Supply& pool = pools_[p];
    if (!IsFor(pool, job)) return false;
    if (pool.capacity == Capacity::kSpot) return job.spot;
    return job.on_demand && (!pool.ordered || job.buys_on_demand);
  }
  double QuotaLeft(int j) const { return teams_[jobs_[j].team].max_nodes - usage_[jobs_[j].team]; }

  void Add(int j, int p, int count) {
    CountOf(out_[j].slots, p) += count;
    total_[j] += count;
    free_[p] -= count;
    if (pools_[p].ordered) ordered_[j] += count;
    usage_[jobs_[j].team] += count * pools_[p].nodes_per_slot;
  }
  void Take(int j, const SlotList& slots) {
    for (const Slots& s : slots) Add(j, s.pool, s.count);
  }

  void Keep() {
    for (int j = 0; j < static_cast<int>(jobs_.size()); ++j) {
      if (!jobs_[j].firm) continue;
      for (const Slots& s : jobs_[j].held) {
        const int count = std::min(s.count, jobs_[j].max - total_[j]);
        if (count > 0) Add(j, s.pool, count);
      }
      if (total_[j] > 0) victims_.push_back(j);
    }
    std::stable_sort(victims_.begin(), victims_.end(), [&](int a, int b) {
      return std::tuple(jobs_[a].priority, -a) < std::tuple(jobs_[b].priority, -b);
    });
  }

  // So many slots of these pools as there are, at most `need`: first where the job has some.
  SlotList Find(int j, const PoolSet& set, int need) const {
    SlotList found;
    double quota = QuotaLeft(j) + (Gang(j) ? NodesBeside(j, set) : 0);  // Settle gives these up.
    int orders = jobs_[j].max_ordered - ordered_[j];
    const auto take = [&](int p, int most) {
      int& here = CountOf(found, p);
      int count = std::min({need, most, free_[p] - here});
      if (pools_[p].ordered) count = std::min(count, orders);
      if (quota != kNever) count = std::min(count, static_cast<int>(quota / pools_[p].nodes_per_slot + kRounding));
      if (count <= 0) return;
      here += count;
      need -= count;
      quota -= count * pools_[p].nodes_per_slot;
      if (pools_[p].ordered) orders -= count;
    };
    for (const Slots& held : jobs_[j].held) {
      if (!jobs_[j].firm && Has(set, held.pool)) take(held.pool, held.count);
    }
    for (const int p : set) {
      if (need > 0) take(p, need);
    }
    return found;
  }

  static bool Has(const PoolSet& set, int p) { return std::find(set.begin(), set.end(), p) != set.end(); }

  PoolSet Owned(int j) const {
    PoolSet set;
    for (const int p : Preferred(j)) {
      if (!pools_[p].ordered && Takes(j, p)) set.push_back(p);
    }
    return set;
  }

  // Where its minimum may be: a gang is in those that are there, or in one ordered pool.
  std::vector<PoolSet> Choices(int j) const {
    std::vector<PoolSet> choices(1);
    for (const int p : Preferred(j)) {
      if (!Takes(j, p)) continue;
      if (pools_[p].ordered && Gang(j)) {
        choices.push_back({p});
      } else {
        choices[0].push_back(p);
      }
    }
    return choices;
  }

  double NodesBeside(int j, const PoolSet& set) const {
    double nodes = 0;
    for (const Slots& s : out_[j].slots) nodes += Has(set, s.pool) ? 0 : s.count * pools_[s.pool].nodes_per_slot;
    return nodes;
  }

  // What it holds elsewhere does not count towards a gang in one pool.
  int NeedIn(int j, const PoolSet& set) const {
    if (!Gang(j)) return jobs_[j].min - total_[j];
    int there = 0;
    for (const Slots& s : out_[j].slots) {
      if (Has(set, s.pool)) there += s.count;
    }
    return jobs_[j].min - there;
  }

  void Settle(int j, const PoolSet& set, const SlotList& found) {
    if (Gang(j)) {
      for (const Slots& s : SlotList(out_[j].slots)) {
        if (!Has(set, s.pool)) Add(j, s.pool, -s.count);
      }
    }
    Take(j, found);
  }

  // Jobs that lost a part of what they ran on go before those that wait with nothing: either could keep the other from
  // its minimum for ever, and these have state in memory.
  void Minimums(const std::vector<int>& jobs) {
    for (const bool lost_a_part : {true, false}) {
      Turns turns(teams_, usage_);
      for (const int j : jobs) {
        if (LostAPart(j) == lost_a_part && total_[j] < jobs_[j].min && jobs_[j].max > 0) {
          turns.Add(jobs_[j].team, 0, j);
        }
      }
      while (!turns.Empty()) {
        GiveMinimum(turns.Next());
        turns.Served();
      }
    }
  }

  // It keeps what is left, and cannot run with that.
  bool LostAPart(int j) const { return jobs_[j].firm && total_[j] > 0 && total_[j] < jobs_[j].min; }

  // May `j` take what `v` has? Of two that lost a part, each of which keeps what the other needs, the older.
  bool MayTakeFrom(int j, int v) const {
    if (jobs_[v].priority != jobs_[j].priority) return jobs_[v].priority < jobs_[j].priority;
    return v > j && LostAPart(v) && LostAPart(j);
  }

  void GiveMinimum(int j) {
    const int missing = jobs_[j].min - total_[j];
    if (!PreemptTeam(j)) {
      out_[j].wait = Wait::kQuota;
      return;
    }
    const std::vector<PoolSet> choices = Choices(j);
    for (const PoolSet& set : choices) {
      const int need = NeedIn(j, set);
      const SlotList found = Find(j, set, need);
      if (CountSlots(found) == need) return Settle(j, set, found);
    }
    const auto kind = std::tuple(jobs_[j].spot, jobs_[j].on_demand, jobs_[j].buys_on_demand, jobs_[j].device,
                                 jobs_[j].most_price, Gang(j));
    const auto failed = failed_.try_emplace(kind, kUnlimited).first;
    const bool alike = !LostAPart(j);  // Who lost a part may take more from others than those that come after it.
    if (!alike || missing < failed->second) {
      for (const PoolSet& set : choices) {
        if (!Preempt(j, set)) continue;
        return Settle(j, set, Find(j, set, NeedIn(j, set)));
      }
      // Who has a part of a gang lacks less there than anybody else would.
      if (alike && (!Gang(j) || total_[j] == 0)) failed_[kind] = std::min(failed_[kind], missing);
    }
    out_[j].wait = out_[j].taken_by != kNone ? Wait::kPreempted : Wait::kCapacity;
    int in_all = 0;
    for (const int p : choices[0]) in_all += pools_[p].slots;
    if (in_all < jobs_[j].min) {
      hopeless_.push_back(j);  // It must not keep others from what it cannot use.
    } else {
      Take(j, Find(j, Owned(j), missing));
      usage_[jobs_[j].team] += (jobs_[j].min - total_[j]) * most_nodes_;  // Its team's other jobs leave it so much.
    }
  }

  // Slots in scope that it may take from others.
  template <typename InScope>
  int Below(int j, InScope in_scope) const {
    int slots = 0;
    for (const int v : victims_) {
      if (jobs_[v].priority > jobs_[j].priority) break;
      if (!MayTakeFrom(j, v)) continue;
      for (const Slots& s : out_[v].slots) slots += in_scope(v, s.pool) ? s.count : 0;
    }
    return slots;
  }

  // Could it run there with all that it may take?
  bool CouldRun(int j, const PoolSet& set) const {
    int slots = Below(j, [&](int, int p) { return Has(set, p); });
    for (const int p : set) slots += std::max(0, free_[p]);
    return slots >= NeedIn(j, set);
  }

  // Makes room for the job's minimum by what it may take there; false: even that is not enough.
  bool Preempt(int j, const PoolSet& set) {
    const auto deficit = [&] { return NeedIn(j, set) - CountSlots(Find(j, set, NeedIn(j, set))); };
    const auto in_scope = [&](int, int p) { return Has(set, p); };
    if (Below(j, in_scope) < deficit()) return false;
    TakeFromBelow(j, in_scope, deficit);
    return deficit() <= 0;
  }

  // The same for its team's quota: by what it may take from the team's jobs anywhere.
  bool PreemptTeam(int j) {
    const auto in_scope = [&](int v, int) { return jobs_[v].team == jobs_[j].team; };
    const auto deficit = [&] {
      const double over = (jobs_[j].min - total_[j]) * most_nodes_ - QuotaLeft(j);
      return static_cast<int>(std::ceil(over / most_nodes_ - kRounding));
    };
    if (deficit() <= 0) return true;
    const std::vector<PoolSet> choices = Choices(j);
    if (std::none_of(choices.begin(), choices.end(), [&](const PoolSet& set) { return CouldRun(j, set); }))
      return false;
    if (Below(j, in_scope) < deficit()) return false;
    TakeFromBelow(j, in_scope, deficit);
    return deficit() <= 0;
  }

  // Until there is no deficit: first what is above minimums, then whole jobs.
  template <typename InScope, typename Deficit>
  void TakeFromBelow(int j, InScope in_scope, Deficit deficit) {
    for (const bool whole : {false, true}) {
      for (const int v : victims_) {
        const int missing = deficit();
        if (missing <= 0 || jobs_[v].priority > jobs_[j].priority) break;
        if (!MayTakeFrom(j, v)) continue;
        int most = whole ? total_[v] : std::min(missing, total_[v] - jobs_[v].min);
        bool taken = false;
        for (const Slots& s : SlotList(out_[v].slots)) {
          const int count = in_scope(v, s.pool) ? std::min(s.count, most) : 0;
          if (count <= 0) continue;
          Add(v, s.pool, -count);
          most -= count;
          taken = true;
        }
        if (!taken) continue;
        out_[v].taken_by = j;
        if (!whole) continue;
        for (const Slots& s : SlotList(out_[v].slots)) Add(v, s.pool, -s.count);  // Below its minimum it runs nowhere.
      }
    }
    failed_.clear();
  }

  void Grow(const std::vector<int>& jobs) {
    Turns turns(teams_, usage_);
    std::map<int, size_t> next;  // Where in its pools a job looks: what is taken does not come back.
    for (const int j : jobs) {
      if (total_[j] >= jobs_[j].min && total_[j] < jobs_[j].max && !Gang(j)) turns.Add(jobs_[j].team, total_[j], j);
    }
    while (!turns.Empty()) {
      const int j = turns.Next();
      const PoolSet& pools = Preferred(j);
      size_t& at = next[j];
      while (at < pools.size() && !HasRoom(j, pools[at])) ++at;
      if (at < pools.size()) {
        Add(j, pools[at], 1);
        if (total_[j] < jobs_[j].max) turns.Add(jobs_[j].team, total_[j], j);
      }
      turns.Served();
    }
  }

  bool HasRoom(int j, int p) const {
    if (free_[p] <= 0 || !Takes(j, p) || pools_[p].nodes_per_slot > QuotaLeft(j) + kRounding) return false;
    return !pools_[p].ordered || ordered_[j] < jobs_[j].max_ordered;
  }

  const std::vector<Supply>& pools_;
  const std::vector<Team>& teams_;
  const std::vector<Demand>& jobs_;
  PoolSet preferred_;                    // By jobs to which all are alike,
  std::map<int, PoolSet> preferred_by_;  // and by others.
  std::vector<int> free_;
  std::vector<double> usage_;  // Of teams, in nodes.
  std::vector<Allotment> out_;
  std::vector<int> total_;    // Of jobs.
  std::vector<int> ordered_;  // The same, of ordered pools.
  std::vector<int> victims_;  // Jobs that hold something, those that lose it first in front.
  std::vector<int> hopeless_;
  // The least for which nobody made room.
  std::map<std::tuple<bool, bool, bool, std::string, double, bool>, int> failed_;
  double most_nodes_ = 0;
};

}  // namespace

int CountSlots(const SlotList& slots) {
  return std::accumulate(slots.begin(), slots.end(), 0, [](int sum, const Slots& s) { return sum + s.count; });
}

std::vector<Allotment> ShareOut(const std::vector<Supply>& pools, const std::vector<Team>& teams,
                                const std::vector<Demand>& jobs) {
  return Sharing(pools, teams, jobs).Run();
}

}  // namespace rekindle::scheduler
