// Test-only: what really happened in schedules, to be printed, and so that no kind of fault is planned only.
#ifndef REKINDLE_COORDINATOR_CORE_SIMULATION_TALLY_H_
#define REKINDLE_COORDINATOR_CORE_SIMULATION_TALLY_H_

#include <array>
#include <map>
#include <string>

namespace rekindle::core::simulation {

enum class Fault {
  kTrainerKilled,
  kTrainerFrozen,
  kAllTrainersKilled,
  kHoldersKilled,
  kNodeKilled,
  kNodeSilent,
  kAgentKilled,
  kCoordinatorKilled,
  kCoordinatorKilledInStep,
  kNodeDrained,
  kNodeNoticed,
  kNoticeWithdrawn,
  kDataCut,
  kJobPaused,
  kJobResumed,
  kNodeAdded,
  kNodesUnheard,
  kMarketTakes,
  kMarketGives,
  kMachineLate,
  kOrderShort,
  kSaveFailed,
  kStoreFull,
  kStoreAway,
  kStoreUnmounted,
  kCheckpointDamaged,
  kRestoreFailed,
  kMessageLost,
  kMessageDoubled,
  kCount,
};

const char* NameOf(Fault fault);

class Tally {
 public:
  void Count(Fault fault) { ++faults_[static_cast<size_t>(fault)]; }
  // A broken check that follows from a weakness of the protocol that is known: counted apart.
  void CountKnown(const std::string& what) { ++known_[what]; }

  void Add(const Tally& other);
  int Times(Fault fault) const { return faults_[static_cast<size_t>(fault)]; }
  const std::map<std::string, int>& known() const { return known_; }
  // One line a kind.
  std::string Describe() const;

 private:
  std::array<int, static_cast<size_t>(Fault::kCount)> faults_ = {};
  std::map<std::string, int> known_;  // In each world at most once: of how many schedules.
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_SIMULATION_TALLY_H_
