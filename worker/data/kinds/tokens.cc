#include "worker/data/kinds/window_files.h"

namespace rekindle::data {

absl::StatusOr<OpenedData> OpenTokens(const DataSpec& spec, const DataNeeds& needs, const std::string& folder) {
  return OpenWindows(spec, kTokensData, needs, folder);
}

}  // namespace rekindle::data
