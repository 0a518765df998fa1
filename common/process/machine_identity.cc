#include "common/process/machine_identity.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/digest/hash.h"
#include "common/process/process.h"

namespace rekindle::common {
namespace {

constexpr size_t kMostInterfaces = 64;

std::string FirstWord(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

std::string LinkTarget(const char* path) {
  char target[PATH_MAX];
  const ssize_t length = readlink(path, target, sizeof(target));
  return length < 0 ? "" : std::string(target, static_cast<size_t>(length));
}

// Returns the hardware addresses of the network interfaces that have a device behind them. Virtual interfaces may get
// another address at each boot.
std::vector<std::string> HardwareAddresses() {
  std::vector<std::string> addresses;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/net", error)) {
    if (addresses.size() >= kMostInterfaces) break;
    if (!std::filesystem::exists(entry.path() / "device", error)) continue;
    std::string address = FirstWord(entry.path() / "address");
    if (!address.empty()) addresses.push_back(std::move(address));
  }
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

}  // namespace

MachineIdentity IdentifyMachine() {
  const std::string installation = FirstWord("/etc/machine-id");
  const std::vector<std::string> addresses = HardwareAddresses();
  const bool known = !installation.empty() && !addresses.empty();
  return {.boot = BootId(),
          .processes = LinkTarget("/proc/self/ns/pid"),
          .hardware = known ? Xxh3_128Hex(absl::StrCat(installation, " ", absl::StrJoin(addresses, " "))) : ""};
}

}  // namespace rekindle::common
