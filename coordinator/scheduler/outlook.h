// This file estimates what the rest of a job will cost for each way to go on: on spot, on demand, or waiting.
//
// A job that may still wait has slack, which is the time to the deadline less the work that is left. Waiting and each
// start use slack up. When it is used up, only on-demand capacity is safe. So the cost that is still to come depends on
// the work left, the slack and the place of the job. A dynamic program over these finds it, where capacity comes and
// goes at the hazards that were learned. The question is that of Wu et al., "Can't Be Late: Optimizing Spot Instance
// Savings under Deadlines" (NSDI 2024). Their Uniform Progress answers it by a fixed rule. Here the length of a start,
// the prices and the hazards decide.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_OUTLOOK_H_
#define REKINDLE_COORDINATOR_SCHEDULER_OUTLOOK_H_

#include <array>
#include <list>
#include <optional>
#include <vector>

#include "coordinator/scheduler/history.h"

namespace rekindle::scheduler {

// An OutlookQuestion holds durations in hours, and prices of one node and hour.
struct OutlookQuestion {
  // `work` is the work of the whole job. The table has values for up to that much work.
  double work = 0;
  // `slack` is the slack at the start of the job.
  double slack = 0;
  // `start` is how long each start takes. That time must also be paid for.
  double start = 0;
  double spot_price = 1;
  double on_demand_price = 1;
  // `overlap` says that a node on demand goes on working while its replacement starts.
  bool overlap = false;
  Hazards hazards;

  friend bool operator==(const OutlookQuestion& a, const OutlookQuestion& b);
};

// An OutlookTable is the whole dynamic program, worked out for one question. It is immutable.
class OutlookTable {
 public:
  explicit OutlookTable(const OutlookQuestion& question);

  // Returns whether, while there is no spot capacity, running on demand costs less than waiting for spot capacity.
  // `running` says that the job runs on demand already.
  bool OnDemandBeatsWaiting(double work, double slack, Age away, bool running) const;
  // Returns whether a change from on-demand capacity to spot capacity of age `there` saves more than its start costs.
  bool SpotBeatsOnDemand(double work, double slack, Age there) const;

 private:
  // A Mode says where the job is: on spot, waiting, on demand without spot capacity, or on demand while there is spot
  // capacity. Each comes with the age of the spot capacity or of its absence.
  enum Mode { kSpot, kWait, kOnDemand, kOffered, kModes };
  using Row = std::vector<float>;

  void FillRow(int i);
  float RunOnDemand(int i, int j, Age age) const;
  float RunOffered(int i, int j, Age age) const;
  float RunSpot(int i, int j, Age age) const;
  float Wait(int i, int j, Age age) const;
  // Returns the slack that a change from on-demand to spot capacity uses.
  double ChangeUses() const { return q_.overlap ? 0 : q_.start; }
  // Returns the value of row `i` at a slack of `j` cells, interpolated.
  float At(Mode mode, Age age, int i, double j) const;
  float Value(Mode mode, Age age, double work, double slack) const;

  const OutlookQuestion q_;
  const double work_step_;
  const double slack_step_;
  // `start_cells_` is the length of a start in cells of slack.
  const double start_cells_;
  // These are the chances that spot capacity is lost, comes back or grows old within one cell of the table.
  std::array<double, 2> lose_{}, back_{}, back_waiting_{};
  double grow_old_ = 0, grow_old_waiting_ = 0;
  std::array<std::array<std::vector<Row>, 2>, kModes> value_;
};

// An Outlook gives the answers of an OutlookTable. It computes that table, which takes a millisecond, only where prices
// alone do not give the answer. The class is thread-compatible.
class Outlook {
 public:
  explicit Outlook(const OutlookQuestion& question) : q_(question) {}

  bool OnDemandBeatsWaiting(double work, double slack, Age away, bool running);
  bool SpotBeatsOnDemand(double work, double slack, Age there);

 private:
  bool MoveCannotPay(double work) const;
  const OutlookTable& Table();

  const OutlookQuestion q_;
  std::optional<OutlookTable> table_;
};

// An OutlookCache keeps outlooks that were asked for before, and similar questions share one. The answer depends on the
// question alone. The class is thread-compatible.
class OutlookCache {
 public:
  Outlook& For(OutlookQuestion question);

 private:
  struct Entry {
    explicit Entry(const OutlookQuestion& q) : question(q), outlook(q) {}
    OutlookQuestion question;
    Outlook outlook;
  };
  std::list<Entry> newest_first_;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_OUTLOOK_H_
