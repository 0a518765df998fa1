#include "coordinator/server/loop/alerts.h"

#include <algorithm>

namespace rekindle::coordinator {

bool IsAlert(const v1::Event& event) {
  return std::find(std::begin(kAlertKinds), std::end(kAlertKinds), event.kind()) != std::end(kAlertKinds);
}

}  // namespace rekindle::coordinator
