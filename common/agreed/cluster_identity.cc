#include "common/agreed/cluster_identity.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/random/random.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace rekindle::common {
namespace {

constexpr size_t kClusterDigits = 32;
// `kMostEpochs` is higher than any epoch that restored coordinators can reach, and the epoch after it still fits an
// int.
constexpr int kMostEpochs = 1 << 30;

bool IsCluster(const std::string& text) {
  return text.size() == kClusterDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

uint64_t Draw() {
  absl::BitGen random;
  return absl::Uniform<uint64_t>(random);
}

}  // namespace

ClusterIdentity NewCluster() { return {absl::StrFormat("%016x%016x", Draw(), Draw()), 1, Draw()}; }

ClusterIdentity NextEpoch(const ClusterIdentity& of, const ClusterIdentity& heard) {
  return {of.cluster, std::max(of.epoch, heard.epoch) + 1, Draw()};
}

bool IsLater(const ClusterIdentity& a, const ClusterIdentity& b) {
  return std::tie(a.epoch, a.epoch_tag) > std::tie(b.epoch, b.epoch_tag);
}

std::string Describe(const ClusterIdentity& identity) {
  return absl::StrCat(identity.cluster, "/", identity.epoch, "-", absl::Hex(identity.epoch_tag, absl::kZeroPad16));
}

absl::StatusOr<ClusterIdentity> ParseClusterIdentity(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::ByAnyChar("/-"));
  ClusterIdentity identity;
  if (parts.size() == 3 && IsCluster(parts[0]) && absl::SimpleAtoi(parts[1], &identity.epoch) && identity.epoch > 0 &&
      identity.epoch <= kMostEpochs && parts[2].size() == 16 && absl::SimpleHexAtoi(parts[2], &identity.epoch_tag)) {
    identity.cluster = parts[0];
    if (Describe(identity) == text) return identity;
  }
  return absl::InvalidArgumentError("no identity of a cluster: CLUSTER/EPOCH-TAG");
}

std::string KnownCluster::WhyNot(const ClusterIdentity& told) const {
  if (known_.cluster.empty()) return "";
  if (told.cluster != known_.cluster) {
    return absl::StrCat("it is of ", told.cluster.empty() ? "no cluster" : absl::StrCat("cluster ", told.cluster),
                        ", and this node belongs to cluster ", known_.cluster);
  }
  if (!IsLater(known_, told)) return "";
  return absl::StrCat("it is of the past: ", Describe(told), ", and ", Describe(known_), " was heard of");
}

bool KnownCluster::Obeys(const ClusterIdentity& told) {
  if (!WhyNot(told).empty()) return false;
  known_ = told;
  return true;
}

}  // namespace rekindle::common
