#include "kernels/sums/word_hash.h"

#include "kernels/sums/word_hash_element.h"
#include "kernels/vector/clones.h"

namespace rekindle::kernels {

REKINDLE_CLONES
uint64_t HashOfWords(const uint32_t* words, int64_t n, uint64_t first) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += HashOfWord(words[i], first + static_cast<uint64_t>(i));
  return sum;
}

}  // namespace rekindle::kernels
