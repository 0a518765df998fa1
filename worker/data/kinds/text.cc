#include "worker/data/kinds/window_files.h"

namespace rekindle::data {

absl::StatusOr<OpenedData> OpenText(const DataSpec& spec, const DataNeeds& needs, const std::string& folder) {
  return OpenWindows(spec, kTextData, needs, folder);
}

}  // namespace rekindle::data
