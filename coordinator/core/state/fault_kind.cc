#include "coordinator/core/state/fault_kind.h"

#include "common/spec/word_table.h"

namespace rekindle::core {
namespace {

constexpr common::Word<FaultKind> kKinds[] = {{"", FaultKind::kNone},
                                              {"trainer_killed", FaultKind::kTrainerKilled},
                                              {"trainer_frozen", FaultKind::kTrainerFrozen},
                                              {"node_killed", FaultKind::kNodeKilled},
                                              {"all_killed", FaultKind::kAllKilled},
                                              {"drained", FaultKind::kDrained},
                                              {"excluded", FaultKind::kExcluded},
                                              {"node_added", FaultKind::kNodeAdded},
                                              {"agent_killed", FaultKind::kAgentKilled},
                                              {"checkpoint_killed", FaultKind::kCheckpointKilled},
                                              {"coordinator_killed", FaultKind::kCoordinatorKilled}};

}  // namespace

FaultKind FaultKindOf(std::string_view word) { return common::ValueOf(kKinds, word, FaultKind::kOther); }

std::string WordOf(FaultKind kind) { return common::WordIn(kKinds, kind); }

}  // namespace rekindle::core
