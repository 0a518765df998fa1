#include "worker/comm/connect/host_communicator.h"

#include <unistd.h>

#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/comm/connect/host_connect.h"
#include "worker/comm/connect/listener_impl.h"

namespace rekindle::comm {
namespace {

std::string LinkTarget(const char* path) {
  char target[256];
  const ssize_t n = readlink(path, target, sizeof(target));
  return n > 0 ? std::string(target, n) : "?";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> ConnectHost(Listener& listener, HostOptions options,
                                                          const std::function<bool()>& cancelled,
                                                          std::vector<Accusation>* accused) {
  if (absl::Status valid = CheckHostOptions(options); !valid.ok()) return valid;
  // Every Listener is a ListenerImpl, because Listener::Create() is the only way to get one.
  return HostConnect(static_cast<ListenerImpl&>(listener), std::move(options), cancelled).Run(accused);
}

std::string HostIdentity() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return absl::StrCat(boot, " ", LinkTarget("/proc/self/ns/pid"), " ", LinkTarget("/proc/self/ns/net"), " ", geteuid());
}

}  // namespace rekindle::comm
