#include "common/net/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "common/log/log.h"

namespace rekindle::common {
namespace {

constexpr rlim_t kMostKept = 256;

}  // namespace

void RaiseDescriptorLimit() {
  rlimit limit = {};
  bool raised = getrlimit(RLIMIT_NOFILE, &limit) == 0;
  limit.rlim_cur = limit.rlim_max;
  raised = raised && setrlimit(RLIMIT_NOFILE, &limit) == 0;
  if (!raised) log::Warning("the limit of open files stays as it is", {{"why", std::strerror(errno)}});
}

int DescriptorsOfClients() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return INT_MAX;
  const rlim_t most = std::min<rlim_t>(limit.rlim_cur, INT_MAX);
  return static_cast<int>(most - std::min(most / 4, kMostKept));
}

}  // namespace rekindle::common
