#include "tests/simulation/world/tally.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {

namespace {

struct Name {
  Fault fault;
  const char* name;
};

constexpr Name kNames[] = {
    {Fault::kTrainerKilled, "a trainer is killed"},
    {Fault::kTrainerFrozen, "a trainer is frozen"},
    {Fault::kTrainerOutOfGrace, "a trainer does not stop in time and is killed"},
    {Fault::kAllTrainersKilled, "all trainers are killed"},
    {Fault::kHoldersKilled, "all trainers that have the newest state are killed"},
    {Fault::kNodeKilled, "a node is killed"},
    {Fault::kNodeSilent, "a node is killed silently"},
    {Fault::kNodeVanished, "a node vanishes as its trainer is told to run"},
    {Fault::kAgentKilled, "an agent is killed"},
    {Fault::kCoordinatorKilled, "the coordinator is killed"},
    {Fault::kCoordinatorKilledInStep, "the coordinator is killed while it decides"},
    {Fault::kNodeDrained, "a node is drained"},
    {Fault::kNodeUndrained, "a drain is taken back"},
    {Fault::kNodeNoticed, "a node is noticed"},
    {Fault::kNoticeWithdrawn, "a notice is withdrawn"},
    {Fault::kGpuFailed, "a GPU fails"},
    {Fault::kGpuMended, "a slot whose GPU had failed is in use again"},
    {Fault::kNcclHung, "an exchange by NCCL hangs"},
    {Fault::kNcclLeft, "a trainer cannot use NCCL any more"},
    {Fault::kExchangeByNccl, "a generation exchanges by NCCL"},
    {Fault::kNobodyAccused, "a rank ends a generation and accuses nobody"},
    {Fault::kDataCut, "no data between two nodes"},
    {Fault::kJobPaused, "a job is paused"},
    {Fault::kJobResumed, "a job is resumed"},
    {Fault::kNodeAdded, "a node is added"},
    {Fault::kNodeRenamed, "a machine comes back under another name"},
    {Fault::kOtherData, "a node reads other data"},
    {Fault::kOtherProbe, "a node computes otherwise"},
    {Fault::kDatabaseFails, "the coordinator's database cannot be written for a while"},
    {Fault::kDatabaseSlow, "the coordinator's database is slow for a while"},
    {Fault::kClockStepped, "the coordinator's wall clock is set"},
    {Fault::kCoordinatorLongAway, "the coordinator is away for a minute or more"},
    {Fault::kNodesUnheard, "the coordinator hears none of some nodes"},
    {Fault::kMarketTakes, "a market takes a machine"},
    {Fault::kMarketGives, "a market gives more machines"},
    {Fault::kMachineLate, "a machine comes late"},
    {Fault::kMachineNeverRegisters, "a machine runs and never registers"},
    {Fault::kMachineEnded, "a provider says that a machine has ended"},
    {Fault::kOrderShort, "an order is fulfilled in part"},
    {Fault::kSaveFailed, "a checkpoint is not taken"},
    {Fault::kStoreFull, "a store takes nothing for a while"},
    {Fault::kStoreAway, "no store answers a node for a while"},
    {Fault::kStoreUnmounted, "a node has empty folders for stores"},
    {Fault::kLeaseEnded, "nobody of a generation is heard of until its lease has ended"},
    {Fault::kStoodStill, "ranks without word from the coordinator stand still"},
    {Fault::kWentOn, "ranks that stood still go on"},
    {Fault::kCheckpointDamaged, "the newest checkpoint is damaged"},
    {Fault::kRestoreFailed, "a checkpoint that was chosen cannot be restored"},
    {Fault::kMessageLost, "a message is lost"},
    {Fault::kMessageDoubled, "a message arrives twice"},
    {Fault::kCopyBroughtBack, "a copy of the coordinator's records is brought back"},
    {Fault::kBroughtBackFromStores, "the records are made of what stores keep"},
    {Fault::kOldGivenUp, "a user says that nothing of a job of such records runs any more"},
    {Fault::kMembershipTakenOver, "a membership is taken over from those that live in it"},
    {Fault::kFoundProven, "a found job is taken over as its store says whose it is"},
    {Fault::kFoundAdopted, "a found job is taken over as its user asks"},
    {Fault::kSubmittedAnew, "a job of which nothing is left is submitted anew"},
    {Fault::kSeveralSlots, "a machine has several slots"},
    {Fault::kBudgetStops, "a budget stops a job"},
    {Fault::kBudgetRaised, "a user allows a job more"},
    {Fault::kMaySpendNoMore, "ranks that may spend no more without the coordinator stand still"},
    {Fault::kMachineEndsItself, "a machine that hears of no coordinator ends itself"},
    {Fault::kPriceStated, "a fleet file states another price"},
    {Fault::kPriceHeard, "a provider says another price"},
};
static_assert(std::size(kNames) == static_cast<size_t>(Fault::kCount), "every fault has a name");

}  // namespace

const char* NameOf(Fault fault) {
  for (const Name& one : kNames) {
    if (one.fault == fault) return one.name;
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
