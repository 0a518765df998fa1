#include "common/text/nearest.h"

#include <algorithm>

namespace rekindle::common {
namespace {

constexpr size_t kLongest = 64;

}  // namespace

size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string Nearest(const std::string& name, const std::vector<std::string>& known) {
  if (name.size() > kLongest) return "";
  std::string best;
  size_t fewest = kLongest;
  for (const std::string& candidate : known) {
    const size_t edits = EditDistance(name, candidate);
    if (edits < fewest && 2 * edits <= std::max(name.size(), candidate.size())) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

}  // namespace rekindle::common
