#include "worker/agent/notices/machine.h"

#include <cstdlib>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "worker/agent/notices/kubernetes.h"

namespace rekindle::agent {
namespace {

constexpr size_t kMostBytes = 16 << 10;  // A service account's token has about 1 KiB.

}  // namespace

std::string Machine::Read(const std::string& path) const {
  std::ifstream file(root + path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  absl::StripTrailingAsciiWhitespace(&text);
  return text;
}

Machine ThisMachine() {
  return {.root = "", .environment = [](const std::string& name) {
            const char* value = std::getenv(name.c_str());
            return std::string(value == nullptr ? "" : value);
          }};
}

// Nitro instances name the vendor, Xen ones the firmware; https://docs.aws.amazon.com: "identify EC2 instances".
bool IsEc2(const Machine& machine) {
  return machine.Dmi("sys_vendor") == "Amazon EC2" || absl::StrContains(machine.Dmi("bios_version"), "amazon");
}

bool IsGoogleCloud(const Machine& machine) { return machine.Dmi("product_name") == "Google Compute Engine"; }

// Hyper-V elsewhere has the same vendor and product; this tag is Azure's own.
bool IsAzure(const Machine& machine) { return machine.Dmi("chassis_asset_tag") == "7783-7084-3265-9085-8269-3286-77"; }

bool IsKubernetesPod(const Machine& machine) {
  return !machine.environment("KUBERNETES_SERVICE_HOST").empty() &&
         !machine.Read(std::string(kServiceAccount) + "/token").empty();
}

}  // namespace rekindle::agent
