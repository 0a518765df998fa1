#include "coordinator/scheduler/plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/scheduler/green.h"
#include "coordinator/scheduler/level.h"
#include "coordinator/scheduler/offers.h"

namespace rekindle::scheduler {
namespace {

// Clouds seldom refuse on-demand capacity for longer than `kMarginHours` hours. The margin was chosen while looking at
// the public traces (docs/benchmarks.md).
constexpr double kMarginHours = 0.5;
// A move must save more than `kMovePays` times what it costs. The cost is certain, but the saving is only expected,
// because prices change and capacity is lost. The factor was chosen by hand, and no results with other values are
// recorded.
constexpr double kMovePays = 2;
constexpr double kRounding = 1e-9;

std::string Hours(double hours) { return absl::StrFormat("%.1f h", hours); }

// A Round makes one plan, on pools that were made comparable (level.h).
class Round {
 public:
  Round(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy, double now, OutlookCache& cache)
      : job_(job), policy_(policy), cache_(cache), offers_(job, pools), start_(job.recovery.Start()) {
    share_ = 1.0 / static_cast<double>(job.units.size());
    const double total_slack = job.deadline - job.total_hours;
    margin_ =
        std::max(job.recovery.OnDemandWait(), std::min(kMarginHours, policy.margin_share * std::max(0.0, total_slack)));
    slack_ = job.deadline - now - job.hours_left - margin_;
    for (const UnitView& unit : job.units) {
      if (unit.pool != kNone && unit.leaving == kNone) slack_ -= share_ * StartLeft(unit);
      if (AtRisk(unit)) ++at_risk_;
    }
    premium_ = policy.objective == Objective::kGreenest ? policy.green_premium : 0;
  }

  std::vector<Action> Run() {
    if (!Affordable()) {
      StopAll("the budget does not cover another planning period");
    } else if (std::string why; premium_ > 0 && WaitForCleanerHour(job_, offers_, policy_, slack_, &why)) {
      StopAll(why);
    } else {
      for (unit_ = 0; unit_ < static_cast<int>(job_.units.size()); ++unit_) Decide(job_.units[unit_]);
    }
    return std::move(actions_);
  }
  const std::string& waits() const { return waits_; }

 private:
  // Returns whether the unit could be interrupted, is nowhere, or is slower than the speed that the deadline is planned
  // with.
  bool AtRisk(const UnitView& unit) const {
    return !offers_.OnDemand(unit.pool) || unit.leaving != kNone || IsSlow(unit.pool);
  }
  bool IsSlow(int pool) const { return kAsFast * offers_.pool(pool).speed < 1; }
  // Returns how many hours of slack the unit uses up if it works in `pool` until the next planning cycle.
  double Lag(int pool) const { return policy_.period * std::max(0.0, 1 - offers_.pool(pool).speed); }
  // Returns whether the unit goes on working where it is while it starts elsewhere.
  bool Overlaps(const UnitView& unit) const {
    return job_.units.size() > 1 && unit.pool != kNone && unit.starting_hours <= 0;
  }
  double StartLeft(const UnitView& unit) const {
    if (unit.starting_hours <= 0) return 0;
    return job_.recovery.Expected(unit.starting_hours) - unit.starting_hours;
  }

  // Returns whether the budget pays for all units that may run until the next planning cycle, or until the job is done.
  bool Affordable() {
    double longest_start = 0;
    double slowest = 1;
    for (const UnitView& unit : job_.units) {
      const int pool = unit.pool != kNone ? unit.pool : WouldTake();
      if (pool != kNone) rate_ += HourlyPrice(pool) * job_.unit_nodes;
      if (pool != kNone) slowest = std::min(slowest, offers_.pool(pool).speed);
      longest_start = std::max(longest_start, unit.pool == kNone ? start_ : StartLeft(unit));
    }
    paid_hours_ = std::min(policy_.period, job_.hours_left / slowest + longest_start);
    return Covered(rate_);
  }
  bool Covered(double rate) const { return job_.budget_left >= rate * paid_hours_ - kRounding; }
  // Returns the hourly cost of all units if this unit were in `pool`.
  double RateWith(const UnitView& unit, int pool) const {
    const int counted = unit.pool != kNone ? unit.pool : WouldTake();
    return rate_ + (HourlyPrice(pool) - (counted == kNone ? 0 : HourlyPrice(counted))) * job_.unit_nodes;
  }

  double HourlyPrice(int p) const { return offers_.pool(p).price * offers_.pool(p).speed; }

  // Returns the pool in which a unit that is nowhere would run at the next chance.
  int WouldTake() const {
    if (policy_.objective == Objective::kFastest) return offers_.Fastest(policy_.capacity);
    const int spot = policy_.capacity == Allowed::kOnDemand ? kNone : offers_.BestSpot(0);
    return spot != kNone || policy_.capacity == Allowed::kSpot ? spot : offers_.BestOnDemand(0);
  }

  void StopAll(const std::string& why) {
    waits_ = why;
    for (unit_ = 0; unit_ < static_cast<int>(job_.units.size()); ++unit_) To(kNone, why);
  }

  void To(int pool, const std::string& reason) {
    const UnitView& unit = job_.units[unit_];
    const int from = unit.pool;
    if (from == pool) return;
    if (pool != kNone && job_.budget_left != kNever) {
      const double rate = RateWith(unit, pool);
      if (rate > rate_ && !Covered(rate)) return;
      rate_ = rate;
    }
    const bool overlaps = pool != kNone && Overlaps(unit);
    offers_.Move(overlaps ? kNone : from, pool);
    if (AtRisk(unit)) --at_risk_;
    if (overlaps || !offers_.OnDemand(pool) || IsSlow(pool)) ++at_risk_;
    if (pool != kNone && !overlaps) slack_ -= share_ * start_;
    actions_.push_back({unit_, pool, reason});
  }

  // Returns whether all units that may be interrupted could still change to on-demand capacity in time after this unit
  // has used `used` hours of slack.
  bool Safe(double used, int at_risk) const {
    if (!HasDeadline()) return true;
    return slack_ - share_ * used >= share_ * start_ * at_risk - kRounding;
  }
  bool HasDeadline() const { return job_.deadline != kNever; }
  // Returns the slack with which to ask the outlook. The outlook keeps the time of a start of all units in reserve, but
  // only `at_risk` of the units need that reserve. So the reserve for the other units is added to the slack.
  double Slack(int at_risk) const { return slack_ + start_ * (1 - share_ * at_risk); }
  // Returns a price above 0, because prices are compared by their ratio. Free spot capacity counts as a thousandth of
  // the on-demand price.
  double SpotPrice() const {
    constexpr double kLeastShare = 1e-3, kLeast = 1e-9;
    return std::max(
        {offers_.LowestPrice(Capacity::kSpot), kLeastShare * offers_.LowestPrice(Capacity::kOnDemand), kLeast});
  }
  // Returns the outlook for a unit that uses slot `slot`, or waits for it. Slots are counted over all pools together.
  // The outlook assumes that spot capacity has the speed to which hours and prices were converted (Yardstick in
  // level.h). Where spot capacity is faster or slower, starts and losses get too much or too little weight, but no
  // deadline depends on it.
  Outlook& Ahead(int slot) {
    return cache_.For({.work = job_.total_hours,
                       .slack = std::max(0.0, job_.deadline - job_.total_hours - margin_),
                       .start = start_,
                       .spot_price = SpotPrice(),
                       .on_demand_price = offers_.LowestPrice(Capacity::kOnDemand),
                       .overlap = job_.units.size() > 1,
                       .hazards = job_.history.Learned(slot)});
  }

  void Decide(const UnitView& unit) {
    const int on_demand = policy_.capacity == Allowed::kSpot ? kNone : offers_.BestOnDemand(HasDeadline() ? 1 : 0);
    int spot = policy_.capacity == Allowed::kOnDemand ? kNone : offers_.BestSpot(premium_);
    if (CostsNoMore(on_demand, spot) || (offers_.OnDemand(unit.pool) && CostsNoMore(unit.pool, spot))) spot = kNone;
    if (policy_.objective == Objective::kFastest) {
      Fastest(unit);
    } else if (policy_.capacity == Allowed::kOnDemand) {
      OnDemandOnly(unit, on_demand, "the job takes on-demand capacity only");
    } else if (!offers_.AnySpot()) {
      OnDemandOnly(unit, on_demand, "the fleet has no spot capacity");
    } else if (offers_.Spot(unit.pool)) {
      OnSpot(unit, spot, on_demand);
    } else if (offers_.OnDemand(unit.pool)) {
      OnDemand(unit, spot, on_demand);
    } else {
      Waiting(unit, spot, on_demand);
    }
  }

  // Returns whether on-demand capacity does the work for no higher price, so that spot capacity is of no use.
  bool CostsNoMore(int on_demand, int spot) const {
    return on_demand != kNone && spot != kNone && offers_.pool(on_demand).price <= offers_.pool(spot).price;
  }

  void OnDemandOnly(const UnitView& unit, int on_demand, const char* why) {
    if (on_demand == kNone) return;
    if (unit.pool == kNone) return To(on_demand, why);
    (void)ToBetterOnDemand(unit, on_demand);
  }

  // Moves a unit from one on-demand pool to another where the deadline needs it or the move pays. Returns whether it
  // did.
  bool ToBetterOnDemand(const UnitView& unit, int on_demand) {
    if (on_demand == kNone || unit.leaving != kNone || unit.starting_hours > 0) return false;
    if (IsSlow(unit.pool) && !IsSlow(on_demand) && !Safe(Lag(unit.pool), at_risk_)) {
      To(on_demand, absl::StrCat(offers_.pool(unit.pool).name, " is too slow for the deadline: ", Margin()));
    } else if (Pays(unit.pool, on_demand) && Safe(start_, at_risk_)) {
      To(on_demand, Cheaper(on_demand, unit.pool));
    } else {
      return false;
    }
    return true;
  }

  void Fastest(const UnitView& unit) {
    const int to = offers_.Fastest(policy_.capacity);
    if (to == kNone) return;
    if (unit.pool == kNone) return To(to, "as soon as can be: any capacity that the job allows");
    if (unit.leaving != kNone || unit.starting_hours > 0) return;
    const double before = offers_.pool(unit.pool).speed, after = offers_.pool(to).speed;
    if (after <= kAsFast * before) return;
    if (job_.hours_left / before - job_.hours_left / after <= kMovePays * start_) return;
    To(to, absl::StrFormat("%s is %.1f times as fast as %s: worth the start of %s", offers_.pool(to).name,
                           after / before, offers_.pool(unit.pool).name, Hours(start_)));
  }

  void OnSpot(const UnitView& unit, int spot, int on_demand) {
    if (unit.leaving != kNone) return;
    // The rest of the unit's start is already subtracted from `slack_`. After an interruption that rest is not needed,
    // so it is added again, without the part that passes until the next planning cycle.
    const double left = StartLeft(unit);
    const double reserve = std::min(left, policy_.period) - left + Lag(unit.pool);
    if (on_demand != kNone && !Safe(reserve, at_risk_)) {
      To(on_demand, absl::StrCat("an interruption now could not be made up before the deadline: ", Margin()));
    } else if (spot != kNone && Pays(unit.pool, spot) && Safe(start_, at_risk_)) {
      To(spot, Cheaper(spot, unit.pool));
    } else if (spot == kNone && CostsNoMore(on_demand, unit.pool) && Pays(unit.pool, on_demand) &&
               Safe(start_, at_risk_)) {
      To(on_demand, Cheaper(on_demand, unit.pool));
    } else if (spot != kNone && premium_ > 0 &&
               MoveIsGreener(job_, offers_.pool(unit.pool), offers_.pool(spot), policy_) && Safe(start_, at_risk_)) {
      To(spot, absl::StrFormat("%s emits %.0f g/h, %s emits %.0f%s: worth the start of %s", offers_.pool(spot).name,
                               HourlyGrams(spot), offers_.pool(unit.pool).name, HourlyGrams(unit.pool),
                               Slower(unit.pool, spot), Hours(start_)));
    }
  }
  std::string Cheaper(int to, int from) const {
    return absl::StrFormat("%s costs %.3f an hour, %s costs %.3f%s: worth the start of %s", offers_.pool(to).name,
                           HourlyPrice(to), offers_.pool(from).name, HourlyPrice(from), Slower(from, to),
                           Hours(start_));
  }
  double HourlyGrams(int p) const { return offers_.pool(p).grams * offers_.pool(p).speed; }
  // Returns words such as " and does 1.25 times as much", which compare the work that a node does in an hour in two
  // pools. Returns an empty string where it is the same. The words follow the prices or emissions of an hour.
  std::string Slower(int from, int to) const {
    const double share = offers_.pool(from).speed / offers_.pool(to).speed;
    return share == 1 ? "" : absl::StrFormat(" and does %.2f times as much", share);
  }

  // Returns whether a move from one pool to another saves enough, compared with what it costs, until the unit would
  // have been interrupted in its old pool. A `kGreenest` job does not move to a pool with higher emissions as long as
  // the price in its present pool is higher by at most `premium_`.
  bool Pays(int from, int to) const {
    const PoolView& now = offers_.pool(from);
    if (premium_ > 0 && offers_.pool(to).grams > now.grams && now.price <= (1 + premium_) * offers_.pool(to).price) {
      return false;
    }
    if (start_ <= 0) return offers_.pool(to).price < now.price;
    const double lasts = offers_.OnDemand(from) ? kNever : 1 / job_.history.Learned(offers_.Used(from) - 1).lost[kOld];
    const double work = std::min(job_.hours_left, lasts * now.speed);
    const double saved = (now.price - offers_.pool(to).price) * work;
    return saved > kMovePays * start_ * HourlyPrice(to);
  }

  void OnDemand(const UnitView& unit, int spot, int on_demand) {
    // The unit is about to move: its start in the new pool is not done yet.
    if (unit.leaving != kNone) return;
    if (ToBetterOnDemand(unit, on_demand)) return;
    const int at_risk = at_risk_ + (AtRisk(unit) ? 0 : 1);
    // No spot pool is cheaper than the unit's pool, so the unit stays.
    if (offers_.pool(unit.pool).price <= offers_.LowestPrice(Capacity::kSpot)) return;
    if (!HasDeadline()) {
      if (spot != kNone && Pays(unit.pool, spot)) To(spot, Cheaper(spot, unit.pool));
    } else if (spot != kNone) {
      const Age age = job_.history.PoolAge(spot, offers_.Used(spot));
      if (Safe((Overlaps(unit) ? 0 : start_) + Lag(spot), at_risk) &&
          Ahead(NextSlot()).SpotBeatsOnDemand(job_.hours_left, Slack(at_risk), age)) {
        To(spot, absl::StrCat(offers_.pool(spot).name, " has spot capacity again, and ", Margin()));
      }
    } else if (Safe(policy_.period, at_risk) &&
               !Ahead(NextSlot())
                    .OnDemandBeatsWaiting(job_.hours_left, Slack(at_risk), job_.history.AnyAge(NextSlot()), true)) {
      To(kNone, absl::StrCat("waiting for spot capacity is expected to cost less: ", Margin()));
      slack_ -= share_ * policy_.period;
    }
  }

  void Waiting(const UnitView& unit, int spot, int on_demand) {
    if (spot != kNone && (on_demand == kNone || Safe(start_ + Lag(spot), at_risk_))) {
      To(spot, unit.last_pool == kNone ? absl::StrCat(offers_.pool(spot).name, " has spot capacity")
                                       : absl::StrCat(offers_.pool(spot).name, " has spot capacity; ",
                                                      offers_.pool(unit.last_pool).name, " was interrupted"));
      return;
    }
    if (on_demand == kNone) return;
    if (CostsNoMore(on_demand, offers_.BestSpot(premium_))) {
      To(on_demand, absl::StrCat("its work costs no more in ", offers_.pool(on_demand).name, " than on spot capacity"));
    } else if (!HasDeadline()) {
      return;
    } else if (!Safe(policy_.period, at_risk_)) {
      To(on_demand, absl::StrCat("the last safe moment before the deadline: ", Margin()));
    } else if (Ahead(NextSlot())
                   .OnDemandBeatsWaiting(job_.hours_left, Slack(at_risk_), job_.history.AnyAge(NextSlot()), false)) {
      To(on_demand, absl::StrCat("waiting longer for spot capacity is expected to cost more: ", Margin()));
    } else {
      slack_ -= share_ * policy_.period;
    }
  }

  // Returns the slot that the next unit to run on spot capacity would take, counted over all pools.
  int NextSlot() const { return std::min(offers_.UsedSpot(), static_cast<int>(job_.units.size()) - 1); }

  std::string Margin() const {
    if (!HasDeadline()) return "there is no deadline";
    return absl::StrCat(Hours(std::max(0.0, slack_)), " to spare, a start takes ", Hours(start_));
  }

  const JobView& job_;
  const Policy& policy_;
  OutlookCache& cache_;
  Offers offers_;
  const double start_;
  double share_ = 1;
  // `rate_` is what all units cost an hour. A unit that is nowhere counts in the pool that it would take.
  double rate_ = 0;
  // `paid_hours_` is for how long the budget must cover `rate_`.
  double paid_hours_ = 0;
  double premium_ = 0;
  double margin_ = 0;
  // `slack_` is how many hours of all units need not be worked before the deadline, less the margin.
  double slack_ = 0;
  // `at_risk_` counts the units that could be interrupted, are nowhere, or are too slow for the deadline (AtRisk).
  int at_risk_ = 0;
  int unit_ = 0;
  std::vector<Action> actions_;
  std::string waits_;
};

}  // namespace

std::vector<Action> Planner::Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                                  double now) {
  return PlanOnLevel(job, pools, policy.capacity, now, [&](const JobView& level, const std::vector<PoolView>& on) {
    Round round(level, on, policy, now, outlooks_);
    std::vector<Action> actions = round.Run();
    waits_ = round.waits();
    return actions;
  });
}

}  // namespace rekindle::scheduler
