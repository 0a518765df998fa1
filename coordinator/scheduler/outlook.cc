#include "coordinator/scheduler/outlook.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rekindle::scheduler {
namespace {

// An OutlookTable has `kWorkCells` cells of work and `kSlackCells` cells of slack. With fewer cells the outlook is less
// exact, and with more its table takes longer to fill. This grid was chosen while looking at the public traces
// (docs/benchmarks.md): elastic jobs cost a little more on them with 96 cells of work.
constexpr int kWorkCells = 144;
constexpr int kSlackCells = 80;
constexpr float kForbidden = 1e9F;
// `kLate` is the price of an hour after the deadline, in hours on demand.
constexpr double kLate = 1000;
// An OutlookCache keeps at most `kCached` outlooks. The table of an outlook takes 380 KB.
constexpr size_t kCached = 64;
// Hazards, prices and starts are rounded so that their logarithms are multiples of `kSimilar`. Similar questions then
// share a table.
constexpr double kSimilar = 0.1;

double Chance(double hazard, double hours) { return 1 - std::exp(-hazard * hours); }
double Round(double value) { return std::exp(std::round(std::log(value) / kSimilar) * kSimilar); }

}  // namespace

bool operator==(const OutlookQuestion& a, const OutlookQuestion& b) {
  return a.work == b.work && a.slack == b.slack && a.start == b.start && a.spot_price == b.spot_price &&
         a.on_demand_price == b.on_demand_price && a.overlap == b.overlap && a.hazards.lost == b.hazards.lost &&
         a.hazards.back == b.hazards.back && a.hazards.elsewhere == b.hazards.elsewhere;
}

OutlookTable::OutlookTable(const OutlookQuestion& question)
    : q_(question),
      work_step_(q_.work / kWorkCells),
      slack_step_(std::max(q_.slack, 1e-3) / kSlackCells),
      start_cells_(q_.start / slack_step_) {
  for (const Age age : {kYoung, kOld}) {
    lose_[age] = Chance(q_.hazards.lost[age], work_step_);
    back_[age] = Chance(q_.hazards.back[age], work_step_);
    back_waiting_[age] = Chance(q_.hazards.back[age], slack_step_);
  }
  grow_old_ = Chance(1 / kOldAfterHours, work_step_);
  grow_old_waiting_ = Chance(1 / kOldAfterHours, slack_step_);
  for (auto& of_mode : value_) of_mode.fill(std::vector<Row>(kWorkCells + 1, Row(kSlackCells + 1, 0)));
  for (int i = 1; i <= kWorkCells; ++i) FillRow(i);
}

// Fills the row of the table for `i` cells of work. Each value depends only on values for less work, or for the same
// work and less slack, which are filled before it.
void OutlookTable::FillRow(int i) {
  for (int j = 0; j <= kSlackCells; ++j) {
    // After a change to spot capacity, the slack must still be enough for one more start, because spot capacity may be
    // lost.
    const bool may_start_spot = j * slack_step_ >= ChangeUses() + q_.start;
    for (const Age age : {kOld, kYoung}) {
      value_[kSpot][age][i][j] = RunSpot(i, j, age);
      value_[kWait][age][i][j] = Wait(i, j, age);
      value_[kOnDemand][age][i][j] = std::min(RunOnDemand(i, j, age), value_[kWait][age][i][j]);
      float offered = RunOffered(i, j, age);
      if (may_start_spot) {
        const auto spot =
            static_cast<float>(q_.start * q_.spot_price + At(kSpot, age, i, j - ChangeUses() / slack_step_));
        offered = std::min(offered, spot);
      }
      value_[kOffered][age][i][j] = offered;
    }
  }
}

float OutlookTable::RunSpot(int i, int j, Age age) const {
  const double slack = j * slack_step_;
  // With less slack than a start takes, the job could not change to on-demand capacity in time any more.
  if (slack < q_.start) {
    return static_cast<float>(q_.on_demand_price * (i * work_step_ + q_.start + kLate * (q_.start - slack)));
  }
  const double on_demand = q_.start * q_.on_demand_price + At(kOnDemand, kYoung, i - 1, j - start_cells_);
  const double gone = std::min<double>(value_[kWait][kYoung][i - 1][j], on_demand);
  const double moved =
      slack >= 2 * q_.start ? q_.start * q_.spot_price + At(kSpot, kOld, i - 1, j - start_cells_) : gone;
  const double lost = q_.hazards.elsewhere * moved + (1 - q_.hazards.elsewhere) * gone;
  double kept = value_[kSpot][age][i - 1][j];
  if (age == kYoung) kept = (1 - grow_old_) * kept + grow_old_ * value_[kSpot][kOld][i - 1][j];
  return static_cast<float>(q_.spot_price * work_step_ + (1 - lose_[age]) * kept + lose_[age] * lost);
}

float OutlookTable::RunOnDemand(int i, int j, Age age) const {
  double away = value_[kOnDemand][age][i - 1][j];
  if (age == kYoung) away = (1 - grow_old_) * away + grow_old_ * value_[kOnDemand][kOld][i - 1][j];
  return static_cast<float>(q_.on_demand_price * work_step_ + (1 - back_[age]) * away +
                            back_[age] * value_[kOffered][kYoung][i - 1][j]);
}

float OutlookTable::RunOffered(int i, int j, Age age) const {
  double there = value_[kOffered][age][i - 1][j];
  if (age == kYoung) there = (1 - grow_old_) * there + grow_old_ * value_[kOffered][kOld][i - 1][j];
  return static_cast<float>(q_.on_demand_price * work_step_ + (1 - lose_[age]) * there +
                            lose_[age] * value_[kOnDemand][kYoung][i - 1][j]);
}

float OutlookTable::Wait(int i, int j, Age age) const {
  const double left = (j - 1) * slack_step_;
  if (j == 0 || left < q_.start) return kForbidden;
  const double later = j - 1 - start_cells_;
  const auto still_away = [&](Age then) {
    return std::min<double>(value_[kWait][then][i][j - 1],
                            q_.start * q_.on_demand_price + At(kOnDemand, then, i, later));
  };
  const double back = left >= 2 * q_.start ? q_.start * q_.spot_price + At(kSpot, kYoung, i, later)
                                           : q_.start * q_.on_demand_price + At(kOffered, kYoung, i, later);
  double away = still_away(age);
  if (age == kYoung) away = (1 - grow_old_waiting_) * away + grow_old_waiting_ * still_away(kOld);
  return static_cast<float>((1 - back_waiting_[age]) * away + back_waiting_[age] * back);
}

float OutlookTable::At(Mode mode, Age age, int i, double j) const {
  const Row& row = value_[mode][age][i];
  const double clamped = std::clamp<double>(j, 0, kSlackCells);
  const int low = std::min(static_cast<int>(clamped), kSlackCells - 1);
  const auto part = static_cast<float>(clamped - low);
  return row[low] * (1 - part) + row[low + 1] * part;
}

float OutlookTable::Value(Mode mode, Age age, double work, double slack) const {
  if (work <= 0) return 0;
  const double i = std::min<double>(work / work_step_, kWorkCells);
  const int low = std::min(static_cast<int>(i), kWorkCells - 1);
  const auto part = static_cast<float>(i - low);
  const double j = slack / slack_step_;
  return At(mode, age, low, j) * (1 - part) + At(mode, age, low + 1, j) * part;
}

bool OutlookTable::OnDemandBeatsWaiting(double work, double slack, Age away, bool running) const {
  const double wait = Value(kWait, away, work, slack);
  if (!running) return q_.start * q_.on_demand_price + Value(kOnDemand, away, work, slack - q_.start) < wait;
  const double step = std::min(work, work_step_);
  const double then = work - step;
  double still = Value(kOnDemand, away, then, slack);
  if (away == kYoung) still = (1 - grow_old_) * still + grow_old_ * Value(kOnDemand, kOld, then, slack);
  const double run =
      q_.on_demand_price * step + (1 - back_[away]) * still + back_[away] * Value(kOffered, kYoung, then, slack);
  return run <= wait;
}

bool OutlookTable::SpotBeatsOnDemand(double work, double slack, Age there) const {
  const double spot = q_.start * q_.spot_price + Value(kSpot, there, work, slack - ChangeUses());
  const double step = std::min(work, work_step_);
  const double then = work - step;
  double still = Value(kOffered, there, then, slack);
  if (there == kYoung) still = (1 - grow_old_) * still + grow_old_ * Value(kOffered, kOld, then, slack);
  const double stay =
      q_.on_demand_price * step + (1 - lose_[there]) * still + lose_[there] * Value(kOnDemand, kYoung, then, slack);
  return spot < stay;
}

// Returns whether a job that runs on demand cannot save by a move. If it moves, it pays for a start and the work, at
// the lower price at best. If it stays, it pays at most the on-demand price for the work. A table gives the same
// answer, apart from its rounding. It is exact only from one cell of work up to all work, so for other amounts this
// returns false.
bool Outlook::MoveCannotPay(double work) const {
  const double lowest = std::min(q_.spot_price, q_.on_demand_price);
  return work >= q_.work / kWorkCells && work <= q_.work && (q_.start + work) * lowest >= work * q_.on_demand_price;
}

bool Outlook::OnDemandBeatsWaiting(double work, double slack, Age away, bool running) {
  return (running && MoveCannotPay(work)) || Table().OnDemandBeatsWaiting(work, slack, away, running);
}

bool Outlook::SpotBeatsOnDemand(double work, double slack, Age there) {
  return !MoveCannotPay(work) && Table().SpotBeatsOnDemand(work, slack, there);
}

const OutlookTable& Outlook::Table() {
  if (!table_) table_.emplace(q_);
  return *table_;
}

Outlook& OutlookCache::For(OutlookQuestion question) {
  question.on_demand_price = Round(question.on_demand_price / question.spot_price);
  question.spot_price = 1;
  for (double& hazard : question.hazards.lost) hazard = Round(hazard);
  for (double& hazard : question.hazards.back) hazard = Round(hazard);
  question.hazards.elsewhere = std::round(question.hazards.elsewhere * 20) / 20;
  question.start = question.start > 0 ? Round(question.start) : 0;
  for (auto entry = newest_first_.begin(); entry != newest_first_.end(); ++entry) {
    if (!(entry->question == question)) continue;
    newest_first_.splice(newest_first_.begin(), newest_first_, entry);
    return newest_first_.front().outlook;
  }
  if (newest_first_.size() == kCached) newest_first_.pop_back();
  newest_first_.emplace_front(question);
  return newest_first_.front().outlook;
}

}  // namespace rekindle::scheduler
