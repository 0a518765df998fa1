#include "tests/simulation/tally.h"

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {

const char* NameOf(Fault fault) {
  switch (fault) {
    case Fault::kTrainerKilled:
      return "a trainer is killed";
    case Fault::kTrainerFrozen:
      return "a trainer is frozen";
    case Fault::kTrainerOutOfGrace:
      return "a trainer does not stop in time and is killed";
    case Fault::kAllTrainersKilled:
      return "all trainers are killed";
    case Fault::kHoldersKilled:
      return "all trainers that have the newest state are killed";
    case Fault::kNodeKilled:
      return "a node is killed";
    case Fault::kNodeSilent:
      return "a node is killed silently";
    case Fault::kAgentKilled:
      return "an agent is killed";
    case Fault::kCoordinatorKilled:
      return "the coordinator is killed";
    case Fault::kCoordinatorKilledInStep:
      return "the coordinator is killed while it decides";
    case Fault::kNodeDrained:
      return "a node is drained";
    case Fault::kNodeUndrained:
      return "a drain is taken back";
    case Fault::kNodeNoticed:
      return "a node is noticed";
    case Fault::kNoticeWithdrawn:
      return "a notice is withdrawn";
    case Fault::kDataCut:
      return "no data between two nodes";
    case Fault::kJobPaused:
      return "a job is paused";
    case Fault::kJobResumed:
      return "a job is resumed";
    case Fault::kNodeAdded:
      return "a node is added";
    case Fault::kNodeRenamed:
      return "a machine comes back under another name";
    case Fault::kOtherData:
      return "a node reads other data";
    case Fault::kOtherProbe:
      return "a node computes otherwise";
    case Fault::kDatabaseFails:
      return "the coordinator's database cannot be written for a while";
    case Fault::kDatabaseSlow:
      return "the coordinator's database is slow for a while";
    case Fault::kClockStepped:
      return "the coordinator's wall clock is set";
    case Fault::kCoordinatorLongAway:
      return "the coordinator is away for a minute or more";
    case Fault::kNodesUnheard:
      return "the coordinator hears none of some nodes";
    case Fault::kMarketTakes:
      return "a market takes a machine";
    case Fault::kMarketGives:
      return "a market gives more machines";
    case Fault::kMachineLate:
      return "a machine comes late";
    case Fault::kMachineNeverRegisters:
      return "a machine runs and never registers";
    case Fault::kMachineEnded:
      return "a provider says that a machine has ended";
    case Fault::kOrderShort:
      return "an order is fulfilled in part";
    case Fault::kSaveFailed:
      return "a checkpoint is not taken";
    case Fault::kStoreFull:
      return "a store takes nothing for a while";
    case Fault::kStoreAway:
      return "no store answers a node for a while";
    case Fault::kStoreUnmounted:
      return "a node has empty folders for stores";
    case Fault::kLeaseEnded:
      return "nobody of a generation is heard of until its lease has ended";
    case Fault::kStoodStill:
      return "ranks without word from the coordinator stand still";
    case Fault::kWentOn:
      return "ranks that stood still go on";
    case Fault::kCheckpointDamaged:
      return "the newest checkpoint is damaged";
    case Fault::kRestoreFailed:
      return "a checkpoint that was chosen cannot be restored";
    case Fault::kMessageLost:
      return "a message is lost";
    case Fault::kMessageDoubled:
      return "a message arrives twice";
    case Fault::kCopyBroughtBack:
      return "a copy of the coordinator's records is brought back";
    case Fault::kBroughtBackFromStores:
      return "the records are made of what stores keep";
    case Fault::kOldGivenUp:
      return "a user says that nothing of a job of such records runs any more";
    case Fault::kMembershipTakenOver:
      return "a membership is taken over from those that live in it";
    case Fault::kFoundProven:
      return "a found job is taken over as its store says whose it is";
    case Fault::kFoundAdopted:
      return "a found job is taken over as its user asks";
    case Fault::kSubmittedAnew:
      return "a job of which nothing is left is submitted anew";
    case Fault::kSeveralSlots:
      return "a machine has several slots";
    case Fault::kBudgetStops:
      return "a budget stops a job";
    case Fault::kBudgetRaised:
      return "a user allows a job more";
    case Fault::kMaySpendNoMore:
      return "ranks that may spend no more without the coordinator stand still";
    case Fault::kMachineEndsItself:
      return "a machine that hears of no coordinator ends itself";
    case Fault::kPriceStated:
      return "a fleet file states another price";
    case Fault::kPriceHeard:
      return "a provider says another price";
    case Fault::kCount:
      break;
  }
  return "";
}

void Tally::Add(const Tally& other) {
  for (size_t i = 0; i < faults_.size(); ++i) faults_[i] += other.faults_[i];
}

std::string Tally::Describe() const {
  std::string text;
  for (size_t i = 0; i < faults_.size(); ++i) {
    absl::StrAppend(&text, "  ", faults_[i], " x ", NameOf(static_cast<Fault>(i)), "\n");
  }
  return text;
}

}  // namespace rekindle::core::simulation
