#include "common/agreed/version.h"

namespace rekindle::common {

const char kVersion[] = REKINDLE_VERSION;

}  // namespace rekindle::common
