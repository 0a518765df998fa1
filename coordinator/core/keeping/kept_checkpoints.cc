#include "coordinator/core/keeping/kept_checkpoints.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {

std::string CheckpointsOf(const v1::JobRecord& record) {
  const std::string& uid = record.job().uid();
  const std::string& store = record.job().status().resolved_spec().checkpoint().store();
  std::vector<std::string> places;
  if (!store.empty()) places.push_back(absl::StrCat(store, "/", uid));
  if (!record.final_store().empty() && record.final_store() != store) {
    places.push_back(absl::StrCat(record.final_store(), "/", uid));
  }
  return JoinWords(places);
}

}  // namespace rekindle::core
