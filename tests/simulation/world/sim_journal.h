// Keeps what happened in a schedule and the first thing that went wrong. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_SIM_JOURNAL_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_SIM_JOURNAL_H_

#include <deque>
#include <string>

#include "coordinator/core/simulation/virtual_time.h"
#include "tests/simulation/world/tally.h"

namespace rekindle::core::simulation {

// A Journal is the only thing that a check may write to. It takes the time from the world's queue.
class Journal {
 public:
  explicit Journal(const Queue& queue) : queue_(queue) {}

  void Note(const std::string& line);
  // Notes that something does not hold that must hold whatever happens. The schedule ends then.
  void Violate(const std::string& what);
  void Count(Fault fault) { tally_.Count(fault); }

  // Returns the last things that happened, oldest first.
  const std::deque<std::string>& lines() const { return lines_; }
  // Returns what went wrong first, or an empty string.
  const std::string& violation() const { return violation_; }
  const Tally& tally() const { return tally_; }

 private:
  const Queue& queue_;
  std::deque<std::string> lines_;
  std::string violation_;
  Tally tally_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_SIM_JOURNAL_H_
