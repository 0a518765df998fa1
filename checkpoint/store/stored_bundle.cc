#include "checkpoint/store/stored_bundle.h"

#include <string_view>

#include "common/bundle/bundle.h"
#include "common/bundle/bundle_reader.h"

namespace rekindle::checkpoint {

absl::Status StoredBundle::Check(const std::string& address) const {
  if (absl::Status status = folder_.Check(); !status.ok()) return status;
  if (common::IsBundleAddress(address)) return absl::OkStatus();
  return absl::InvalidArgumentError("a bundle has an address of 64 lower-case hex digits");
}

absl::Status StoredBundle::Put(const std::string& address, const std::string& packed) {
  if (absl::Status status = Check(address); !status.ok()) return status;
  if (const auto right = common::CheckPackedBundle(packed, address); !right.ok()) return right.status();
  return folder_.backend().Put(folder_.Bundle(address), packed);
}

absl::StatusOr<bool> StoredBundle::IsThere(const std::string& address) {
  if (absl::Status status = Check(address); !status.ok()) return status;
  const auto info = folder_.backend().Stat(folder_.Bundle(address));
  if (absl::IsNotFound(info.status())) return false;
  if (!info.ok()) return info.status();
  return true;
}

absl::StatusOr<std::vector<std::string>> StoredBundle::Addresses() {
  if (absl::Status status = folder_.Check(); !status.ok()) return status;
  const auto names = folder_.backend().List(folder_.uid());
  if (!names.ok()) return names.status();
  std::vector<std::string> addresses;
  const size_t prefix = std::string_view(JobFolder::kBundlePrefix).size();
  for (const std::string& name : *names) {
    if (!name.starts_with(JobFolder::kBundlePrefix)) continue;
    // A bundle that is not written to its end has more behind its address.
    if (common::IsBundleAddress(name.substr(prefix))) addresses.push_back(name.substr(prefix));
  }
  return addresses;
}

absl::StatusOr<std::string> StoredBundle::Read(const std::string& address) {
  if (absl::Status status = Check(address); !status.ok()) return status;
  auto packed = folder_.backend().ReadAll(folder_.Bundle(address), static_cast<size_t>(common::kMaxPackedBundleBytes));
  if (absl::IsOutOfRange(packed.status())) return absl::DataLossError("the bundle is damaged: it is too large");
  if (!packed.ok()) return packed.status();
  if (const auto right = common::CheckPackedBundle(*packed, address); !right.ok()) return right.status();
  return packed;
}

}  // namespace rekindle::checkpoint
