// Looks words of specs and records up in a table that says which value of an enum each of them stands for.
#ifndef REKINDLE_COMMON_SPEC_WORD_TABLE_H_
#define REKINDLE_COMMON_SPEC_WORD_TABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace rekindle::common {

template <typename Enum>
struct Word {
  std::string_view word;
  Enum value;
};

// Returns the value that the word stands for, or `other` where the table does not have the word.
template <typename Enum, size_t kWords>
Enum ValueOf(const Word<Enum> (&table)[kWords], std::string_view word, Enum other) {
  for (const Word<Enum>& entry : table) {
    if (entry.word == word) return entry.value;
  }
  return other;
}

// Returns the word that stands for the value, or an empty one where the table does not have the value.
template <typename Enum, size_t kWords>
std::string WordIn(const Word<Enum> (&table)[kWords], Enum value) {
  for (const Word<Enum>& entry : table) {
    if (entry.value == value) return std::string(entry.word);
  }
  return "";
}

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_WORD_TABLE_H_
