// Test-only: what really happened in schedules, to be printed, and so that no kind of fault is planned only.
#ifndef REKINDLE_TESTS_SIMULATION_TALLY_H_
#define REKINDLE_TESTS_SIMULATION_TALLY_H_

#include <array>
#include <string>

namespace rekindle::core::simulation {

enum class Fault {
  kTrainerKilled,
  kTrainerFrozen,
  kTrainerOutOfGrace,
  kAllTrainersKilled,
  kHoldersKilled,
  kNodeKilled,
  kNodeSilent,
  kAgentKilled,
  kCoordinatorKilled,
  kCoordinatorKilledInStep,
  kNodeDrained,
  kNodeUndrained,
  kNodeNoticed,
  kNoticeWithdrawn,
  kDataCut,
  kJobPaused,
  kJobResumed,
  kNodeAdded,
  kNodeRenamed,
  kOtherData,
  kOtherProbe,
  kDatabaseFails,
  kDatabaseSlow,
  kClockStepped,
  kCoordinatorLongAway,
  kNodesUnheard,
  kMarketTakes,
  kMarketGives,
  kMachineLate,
  kMachineNeverRegisters,
  kMachineEnded,  // As its provider says of a node that is not heard of.
  kOrderShort,
  kSaveFailed,
  kStoreFull,
  kStoreAway,
  kStoreUnmounted,
  kCheckpointDamaged,
  kRestoreFailed,
  kMessageLost,
  kMessageDoubled,
  kLeaseEnded,
  kStoodStill,
  kWentOn,
  kCopyBroughtBack,
  kBroughtBackFromStores,
  kOldGivenUp,
  kMembershipTakenOver,
  kFoundProven,
  kFoundAdopted,
  kSubmittedAnew,
  kSeveralSlots,
  kBudgetStops,
  kBudgetRaised,
  kMaySpendNoMore,
  kMachineEndsItself,
  kPriceStated,
  kPriceHeard,
  kCount,
};

const char* NameOf(Fault fault);

class Tally {
 public:
  void Count(Fault fault) { ++faults_[static_cast<size_t>(fault)]; }

  void Add(const Tally& other);
  int Times(Fault fault) const { return faults_[static_cast<size_t>(fault)]; }
  // One line a kind.
  std::string Describe() const;

 private:
  std::array<int, static_cast<size_t>(Fault::kCount)> faults_ = {};
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_TALLY_H_
