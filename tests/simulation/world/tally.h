// Counts which faults really happened in schedules. The counts are printed, and they show whether a kind of fault was
// planned but never happened. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_TALLY_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_TALLY_H_

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
  kNodeVanished,
  kAgentKilled,
  kCoordinatorKilled,
  kCoordinatorKilledInStep,
  kNodeDrained,
  kNodeUndrained,
  kNodeNoticed,
  kNoticeWithdrawn,
  kGpuFailed,
  kGpuMended,
  kNcclHung,
  kNcclLeft,
  kExchangeByNccl,
  kNobodyAccused,
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
  // `kMachineEnded` means that a provider reports the end of a machine whose node the coordinator no longer hears from.
  kMachineEnded,
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
  // Returns one line for each kind of fault.
  std::string Describe() const;

 private:
  std::array<int, static_cast<size_t>(Fault::kCount)> faults_ = {};
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_TALLY_H_
