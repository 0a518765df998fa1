// Which coordinator may decide. A cluster is made with an empty data folder; whoever has heard of one obeys no other.
// An epoch is one line of its history: what is brought back from an old copy begins another, higher one.
#ifndef REKINDLE_COMMON_CLUSTER_IDENTITY_H_
#define REKINDLE_COMMON_CLUSTER_IDENTITY_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace rekindle::common {

struct ClusterIdentity {
  std::string cluster;     // 32 hex digits; empty: none is known.
  int epoch = 0;           // From 1.
  uint64_t epoch_tag = 0;  // Random: two copies of one backup begin two epochs of one number.

  bool operator==(const ClusterIdentity&) const = default;
};

ClusterIdentity NewCluster();
// Begins an epoch of that cluster above both its own and `heard`, which may be empty.
ClusterIdentity NextEpoch(const ClusterIdentity& of, const ClusterIdentity& heard);
// Is `a` of a later epoch than `b`? REQUIRES: both are of one cluster.
bool IsLater(const ClusterIdentity& a, const ClusterIdentity& b);
// As "CLUSTER/EPOCH-TAG" for files and messages, and back. INVALID_ARGUMENT.
std::string Describe(const ClusterIdentity& identity);
absl::StatusOr<ClusterIdentity> ParseClusterIdentity(const std::string& text);

// Of v1.ClusterIdentity, without its header. Anything that is none is the empty identity.
template <typename Message>
ClusterIdentity FromMessage(const Message& message) {
  ClusterIdentity identity{message.cluster(), message.epoch(), message.epoch_tag()};
  return ParseClusterIdentity(Describe(identity)).ok() ? identity : ClusterIdentity();
}
template <typename Message>
void ToMessage(const ClusterIdentity& identity, Message* message) {
  message->set_cluster(identity.cluster);
  message->set_epoch(identity.epoch);
  message->set_epoch_tag(identity.epoch_tag);
}

// What a node or a trainer remembers. Thread-compatible.
class KnownCluster {
 public:
  KnownCluster() = default;
  explicit KnownCluster(ClusterIdentity known) : known_(std::move(known)) {}

  // Someone answers as `told`: is that the coordinator to obey? Remembers the first cluster and its highest epoch.
  bool Obeys(const ClusterIdentity& told);
  // Why it does not obey that one; "" where it would.
  std::string WhyNot(const ClusterIdentity& told) const;

  const ClusterIdentity& known() const { return known_; }

 private:
  ClusterIdentity known_;
};

// An answer of a coordinator, as v1.NodeDirective and v1.TrainerDirective: empty where it is to be obeyed, and `known`
// has taken note of that; else why it is not.
template <typename Answer>
std::string WhyNotObeyed(const Answer& answer, KnownCluster& known) {
  if (answer.has_superseded_by()) {
    return "it was superseded by " + Describe(FromMessage(answer.superseded_by()));
  }
  const ClusterIdentity told = FromMessage(answer.identity());
  return known.Obeys(told) ? "" : known.WhyNot(told);
}

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_CLUSTER_IDENTITY_H_
