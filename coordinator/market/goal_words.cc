#include "coordinator/market/goal_words.h"

#include "common/spec/word_table.h"

namespace rekindle::core {
namespace {

using common::Word;
using scheduler::Allowed;
using scheduler::Objective;

constexpr Word<PoolCapacity> kCapacities[] = {
    {"spot", PoolCapacity::kSpot}, {"on_demand", PoolCapacity::kOnDemand}, {"unpriced", PoolCapacity::kUnpriced}};
constexpr Word<Objective> kObjectives[] = {
    {"cheapest", Objective::kCheapest}, {"fastest", Objective::kFastest}, {"greenest", Objective::kGreenest}};
constexpr Word<Allowed> kAllowed[] = {
    {"mixed", Allowed::kMixed}, {"spot", Allowed::kSpot}, {"on_demand", Allowed::kOnDemand}};

template <typename Enum, size_t kWords>
std::vector<std::string> WordsOf(const Word<Enum> (&table)[kWords]) {
  std::vector<std::string> words;
  for (const Word<Enum>& entry : table) words.emplace_back(entry.word);
  return words;
}

}  // namespace

PoolCapacity PoolCapacityOf(std::string_view word) { return common::ValueOf(kCapacities, word, PoolCapacity::kOther); }

std::string WordOf(PoolCapacity capacity) { return common::WordIn(kCapacities, capacity); }

std::vector<std::string> ObjectiveWords() { return WordsOf(kObjectives); }

std::vector<std::string> AllowedWords() { return WordsOf(kAllowed); }

Objective ObjectiveOf(std::string_view word) { return common::ValueOf(kObjectives, word, Objective::kCheapest); }

Allowed AllowedOf(std::string_view word) { return common::ValueOf(kAllowed, word, Allowed::kMixed); }

}  // namespace rekindle::core
