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
  // A PoolSet lists pools in the order in which a job prefers them.
  using PoolSet = std::vector<int>;

  // Returns the pools in the order in which the job prefers them. Pools that take no orders come first, the fastest in
  // front. Ordered spot pools and then ordered on-demand pools follow, by what the job's work costs in them. Equal
  // pools are in the order of how many kinds of jobs they run, the fewest first, so that the others stay free for jobs
  // that need them.
  PoolSet PreferredBy(const Demand& job) const {
    PoolSet set(pools_.size());
    std::iota(set.begin(), set.end(), 0);
    const auto rank = [&](int p) {
      const Supply& pool = pools_[p];
      const double speed = SpeedIn(job, p);
      return std::tuple(pool.ordered, pool.ordered && pool.capacity == Capacity::kOnDemand,
                        pool.ordered ? pool.price / speed : -speed, pool.runs, p);
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

  // Finds up to `need` slots for the job in the pools of `set`, first where the job has some already.
  SlotList Find(int j, const PoolSet& set, int need) const {
    SlotList found;
    // The job's nodes outside `set` do not count against the quota, because GiveSlots gives them up.
    double quota = QuotaLeft(j) + (Gang(j) ? NodesBeside(j, set) : 0);
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

  // Returns the sets of pools in which the job may have its minimum. For a gang, a set is either all pools whose nodes
  // come by themselves, or one ordered pool.
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

  // Returns how many slots the job lacks in `set`. What a gang holds elsewhere does not count.
  int NeedIn(int j, const PoolSet& set) const {
    if (!Gang(j)) return jobs_[j].min - total_[j];
    int there = 0;
    for (const Slots& s : out_[j].slots) {
      if (Has(set, s.pool)) there += s.count;
    }
    return jobs_[j].min - there;
  }

  void GiveSlots(int j, const PoolSet& set, const SlotList& found) {
    if (Gang(j)) {
      for (const Slots& s : SlotList(out_[j].slots)) {
        if (!Has(set, s.pool)) Add(j, s.pool, -s.count);
      }
    }
    Take(j, found);
  }

  // Serves jobs that lost a part of their slots before jobs that wait with nothing. Either kind could keep the other
  // from its minimum for ever, and trainers of the first kind still hold state in memory.
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

  // Returns whether the job lost a part of its slots and keeps a rest that is too small to run with.
  bool LostAPart(int j) const { return jobs_[j].firm && total_[j] > 0 && total_[j] < jobs_[j].min; }

  // Returns whether job `j` may take slots from job `v`. Where both lost a part of their slots and each has what the
  // other needs, the older job may.
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
      if (CountSlots(found) == need) return GiveSlots(j, set, found);
    }
    const auto kind = std::tuple(jobs_[j].spot, jobs_[j].on_demand, jobs_[j].buys_on_demand, jobs_[j].device,
                                 jobs_[j].needs, jobs_[j].most_price, Gang(j));
    const auto failed = failed_.try_emplace(kind, kUnlimited).first;
    // A job that lost a part of its slots may take slots from more jobs than one that has none. So it tries even where
    // no room could be made for a job without slots.
    const bool alike = !LostAPart(j);
    if (!alike || missing < failed->second) {
      for (const PoolSet& set : choices) {
        if (!Preempt(j, set)) continue;
        return GiveSlots(j, set, Find(j, set, NeedIn(j, set)));
      }
      // A gang that has a part of its slots lacks only `missing` slots in their pool, and more in any other. So if no
      // room can be made for it, there may still be room for another gang that lacks as many.
      if (alike && (!Gang(j) || total_[j] == 0)) failed_[kind] = std::min(failed_[kind], missing);
    }
    out_[j].wait = out_[j].taken_by != kNone ? Wait::kPreempted : Wait::kCapacity;
    int in_all = 0;
    for (const int p : choices[0]) in_all += pools_[p].slots;
    if (in_all < jobs_[j].min) {
      // The job's minimum is more than its pools have, so the job must not keep others from slots that it cannot use.
      hopeless_.push_back(j);
    } else {
      Take(j, Find(j, Owned(j), missing));
      // The other jobs of the team must leave the job the quota for the rest of its minimum.
      usage_[jobs_[j].team] += (jobs_[j].min - total_[j]) * most_nodes_;
    }
  }

  // Returns how many slots job `j` may take from other jobs. Only slots for which `in_scope` is true are counted.
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

  // Returns whether the job could run in the pools of `set` with all the slots that it may take from other jobs.
  bool CouldRun(int j, const PoolSet& set) const {
    int slots = Below(j, [&](int, int p) { return Has(set, p); });
    for (const int p : set) slots += std::max(0, free_[p]);
    return slots >= NeedIn(j, set);
  }

  // Makes room for the job's minimum in the pools of `set`, with slots that it may take from other jobs there. Returns
  // false where even these are not enough.
  bool Preempt(int j, const PoolSet& set) {
    const auto deficit = [&] { return NeedIn(j, set) - CountSlots(Find(j, set, NeedIn(j, set))); };
    const auto in_scope = [&](int, int p) { return Has(set, p); };
    if (Below(j, in_scope) < deficit()) return false;
    TakeFromBelow(j, in_scope, deficit);
    return deficit() <= 0;
  }

  // Makes room in the team's quota with slots that the job may take from the team's other jobs in any pool. Returns
  // false where even these are not enough.
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

  // Takes slots from other jobs until `deficit` returns 0: first the slots above minimums, then those of whole jobs.
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
        // A job below its minimum runs nowhere, so it loses the rest of its slots, too.
        for (const Slots& s : SlotList(out_[v].slots)) Add(v, s.pool, -s.count);
      }
    }
    failed_.clear();
  }

  void Grow(const std::vector<int>& jobs) {
    Turns turns(teams_, usage_);
    // `next` is where each job continues in its list of pools. It passes pools that are full, because no slot becomes
    // free.
    std::map<int, size_t> next;
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
  // `preferred_` lists the pools in the order of preference of the jobs for which all pools are equally fast. Other
  // jobs have their own order.
  PoolSet preferred_;
  std::map<int, PoolSet> preferred_by_;
  std::vector<int> free_;
  // `usage_` counts the nodes of each team.
  std::vector<double> usage_;
  std::vector<Allotment> out_;
  // `total_` counts the slots of each job.
  std::vector<int> total_;
  // `ordered_` counts the slots of each job in ordered pools.
  std::vector<int> ordered_;
  // `victims_` are the jobs that hold something. Those that lose it first are in front.
  std::vector<int> victims_;
  std::vector<int> hopeless_;
  // For each kind of job, `failed_` is the smallest number of missing slots for which no room could be made.
  std::map<std::tuple<bool, bool, bool, std::string, OwnCode, double, bool>, int> failed_;
  double most_nodes_ = 0;
};

}  // namespace

std::vector<Allotment> ShareOut(const std::vector<Supply>& pools, const std::vector<Team>& teams,
                                const std::vector<Demand>& jobs) {
  return Sharing(pools, teams, jobs).Run();
}

}  // namespace rekindle::scheduler
