#include "coordinator/core/formation/transport_choice.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"

namespace rekindle::core {
namespace {

// NCCL's number of a version is 22809 for 2.28.9.
std::string VersionText(int version) {
  constexpr int kMajor = 10000, kMinor = 100;
  return absl::StrCat(version / kMajor, ".", version % kMajor / kMinor, ".", version % kMinor);
}

// Returns what keeps this member from using NCCL with anybody, or an empty string.
std::string FindOwnObstacle(const ExchangingMember& member) {
  if (member.device == nullptr) return absl::StrCat(member.name, " computes on its processor");
  if (member.device->nccl_version() == 0) {
    return absl::StrCat(member.name, " has no NCCL", member.device->no_nccl().empty() ? "" : ": ",
                        member.device->no_nccl());
  }
  if (member.device->nccl_left())
    return absl::StrCat(member.name, " cannot use NCCL any more, as an abort did not end");
  return "";
}

// Returns why two members cannot use NCCL together, although each of them has it, or an empty string.
std::string FindMutualObstacle(const std::vector<ExchangingMember>& members) {
  const ExchangingMember& first = members.front();
  std::map<std::string, const ExchangingMember*> users;
  for (const ExchangingMember& member : members) {
    const v1::TrainerDevice& device = *member.device;
    if (device.nccl_version() != first.device->nccl_version()) {
      return absl::StrCat(first.name, " has NCCL ", VersionText(first.device->nccl_version()), " and ", member.name,
                          " has ", VersionText(device.nccl_version()));
    }
    const auto [user, is_first] = users.emplace(device.uuid(), &member);
    if (!is_first && !(device.shares_gpu() && user->second->device->shares_gpu())) {
      return absl::StrCat(user->second->name, " and ", member.name, " share the GPU ", device.uuid(),
                          ", which their NCCL does not allow");
    }
  }
  return "";
}

}  // namespace

TransportChoice ChooseTransport(const std::vector<ExchangingMember>& members) {
  const bool any_gpu = std::any_of(members.begin(), members.end(), [](const auto& m) { return m.device != nullptr; });
  // A single member exchanges with nobody.
  if (!any_gpu || members.size() < 2) return {};
  for (const ExchangingMember& member : members) {
    if (std::string obstacle = FindOwnObstacle(member); !obstacle.empty()) return {.reason = std::move(obstacle)};
  }
  if (std::string obstacle = FindMutualObstacle(members); !obstacle.empty()) return {.reason = std::move(obstacle)};
  return {.transport = v1::TRANSPORT_NCCL};
}

}  // namespace rekindle::core
