// What the rest of a job will cost, for each way to go on: spot, on-demand, or wait.
//
// A job that may still wait has slack: time to the deadline less the work left. Waiting and each start use it up; at
// the end of it only on-demand is safe. So the cost that is still to come is a function of (work left, slack, where the
// job is), and a dynamic program over these finds it, with capacity that comes and goes at the hazards that were
// learned. The question is that of Wu et al., "Can't Be Late: Optimizing Spot Instance Savings under Deadlines" (NSDI
// 2024), whose Uniform Progress answers it by a fixed rule; here the length of a start, the prices and the hazards
// decide.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_OUTLOOK_H_
#define REKINDLE_COORDINATOR_SCHEDULER_OUTLOOK_H_

#include <array>
#include <list>
#include <optional>
#include <vector>

#include "coordinator/scheduler/history.h"

namespace rekindle::scheduler {

// Hours, and prices of one node and hour.
struct OutlookQuestion {
  double work = 0;   // Of the whole job: the range of the table.
  double slack = 0;  // At its start.
  double start = 0;  // Paid at each start, in time and money.
  double spot_price = 1;
  double on_demand_price = 1;
  bool overlap = false;  // On-demand capacity works on while its replacement starts.
  Hazards hazards;

  friend bool operator==(const OutlookQuestion& a, const OutlookQuestion& b);
};

// The whole program, worked out. Immutable.
class OutlookTable {
 public:
  explicit OutlookTable(const OutlookQuestion& question);

  // Whether, with no spot capacity, running on demand (`running`: it runs there already) beats waiting for it.
  bool OnDemandBeatsWaiting(double work, double slack, Age away, bool running) const;
  // Whether leaving on-demand capacity for spot capacity that has been there for `there` pays for the start.
  bool SpotBeatsOnDemand(double work, double slack, Age there) const;

 private:
  // Where the job is, each with spot capacity's age: on spot; waiting; on demand without spot; on demand with spot
  // there.
  enum Mode { kSpot, kWait, kOnDemand, kOffered, kModes };
  using Row = std::vector<float>;

  void FillRow(int i);
  float RunOnDemand(int i, int j, Age age) const;
  float RunOffered(int i, int j, Age age) const;
  float RunSpot(int i, int j, Age age) const;
  float Wait(int i, int j, Age age) const;
  // Slack that a change from on-demand to spot capacity uses.
  double ChangeUses() const { return q_.overlap ? 0 : q_.start; }
  // Row `i` at slack `j` cells.
  float At(Mode mode, Age age, int i, double j) const;
  float Value(Mode mode, Age age, double work, double slack) const;

  const OutlookQuestion q_;
  const double work_step_;
  const double slack_step_;
  const double start_cells_;                                // A start, in cells of slack.
  std::array<double, 2> lose_{}, back_{}, back_waiting_{};  // Chances in one cell.
  double grow_old_ = 0, grow_old_waiting_ = 0;
  std::array<std::array<std::vector<Row>, 2>, kModes> value_;
};

// The same answers. A table takes a millisecond, so it is worked out only where prices alone do not decide.
// Thread-compatible.
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

// Outlooks asked for before: similar questions share one. The answer depends on the question alone. Thread-compatible.
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
