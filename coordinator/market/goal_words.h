// Says what the words of a job's goals and of pools stand for. Specs, records and the fleet file keep the words, and
// whoever decides by one of them reads it here.
#ifndef REKINDLE_COORDINATOR_MARKET_GOAL_WORDS_H_
#define REKINDLE_COORDINATOR_MARKET_GOAL_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::core {

// Says how the machines of a pool are sold. `kUnpriced` is that of a pool which the price book does not have.
enum class PoolCapacity { kOther, kSpot, kOnDemand, kUnpriced };

PoolCapacity PoolCapacityOf(std::string_view word);
// Returns the word, which is empty for `kOther`.
std::string WordOf(PoolCapacity capacity);

// Return the words that a spec may have, in the order in which messages list them.
std::vector<std::string> ObjectiveWords();
std::vector<std::string> AllowedWords();

// Reads `goals.objective`. No word, and any that is not known, means the cheapest plan.
scheduler::Objective ObjectiveOf(std::string_view word);
// Reads `goals.capacity`. No word, and any that is not known, means that both are allowed.
scheduler::Allowed AllowedOf(std::string_view word);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_MARKET_GOAL_WORDS_H_
