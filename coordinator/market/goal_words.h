// Translates words into enums: the objective and the capacity of a job, and the capacity of a pool. Specs, records and
// the fleet file hold the words. Code that makes a decision from a word uses these functions.
#ifndef REKINDLE_COORDINATOR_MARKET_GOAL_WORDS_H_
#define REKINDLE_COORDINATOR_MARKET_GOAL_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::core {

// PoolCapacity says how the machines of a pool are sold. `kUnpriced` is for a pool that the price book does not have.
enum class PoolCapacity { kOther, kSpot, kOnDemand, kUnpriced };

PoolCapacity PoolCapacityOf(std::string_view word);
// Returns the word for a pool's capacity, which is empty for `kOther`.
std::string WordOf(PoolCapacity capacity);

// These functions return the words that a spec may have for its objective and its capacity, in the order in which
// messages list them.
std::vector<std::string> ObjectiveWords();
std::vector<std::string> AllowedWords();

// Reads the word of `goals.objective`. A word that is empty or not known means the cheapest plan.
scheduler::Objective ObjectiveOf(std::string_view word);
// Reads the word of `goals.capacity`. A word that is empty or not known means that both kinds are allowed.
scheduler::Allowed AllowedOf(std::string_view word);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_MARKET_GOAL_WORDS_H_
