#include "worker/train/control/membership.h"

namespace rekindle::train {

int Membership::RankOf(const std::string& trainer) const {
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].trainer == trainer) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace rekindle::train
