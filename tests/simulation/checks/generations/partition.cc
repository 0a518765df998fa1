#include "tests/simulation/checks/generations/partition.h"

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {

std::string FindGap(const std::vector<std::set<int>>& parts, int n) {
  std::vector<int> times(n, 0);
  for (const std::set<int>& part : parts) {
    for (int i : part) {
      if (i < 0 || i >= n) return absl::StrCat(i, " is out of range");
      ++times[i];
    }
  }
  for (int i = 0; i < n; ++i) {
    if (times[i] != 1) return absl::StrCat("micro-batch ", i, " is there ", times[i], " times");
  }
  return "";
}

}  // namespace rekindle::core::simulation
