// Identifies the coordinator that nodes and trainers have to obey. A cluster is created with an empty data folder. A
// process that knows one cluster obeys the coordinator of no other. An epoch is one line of the cluster's history. A
// coordinator that is restored from an old copy begins another, higher epoch.
#ifndef REKINDLE_COMMON_AGREED_CLUSTER_IDENTITY_H_
#define REKINDLE_COMMON_AGREED_CLUSTER_IDENTITY_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace rekindle::common {

struct ClusterIdentity {
  // `cluster` is 32 hex digits, or empty if no cluster is known.
  std::string cluster;
  // `epoch` counts from 1.
  int epoch = 0;
  // `epoch_tag` is random, because two copies of one backup may begin two epochs of the same number.
  uint64_t epoch_tag = 0;

  bool operator==(const ClusterIdentity&) const = default;
};

ClusterIdentity NewCluster();
// Returns the identity of a new epoch of the cluster that `of` identifies. The new epoch is higher than the epochs of
// both `of` and `heard`. `heard` may be the empty identity.
ClusterIdentity NextEpoch(const ClusterIdentity& of, const ClusterIdentity& heard);
// Returns whether the epoch of `a` is later than that of `b`. REQUIRES: both are of one cluster.
bool IsLater(const ClusterIdentity& a, const ClusterIdentity& b);
// Converts an identity to "CLUSTER/EPOCH-TAG" for files and messages, and back. A text of another form is an
// INVALID_ARGUMENT.
std::string Describe(const ClusterIdentity& identity);
absl::StatusOr<ClusterIdentity> ParseClusterIdentity(const std::string& text);

// Converts a v1.ClusterIdentity. The function is a template, so that this header need not include that of the message.
// A message that is not valid becomes the empty identity.
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

// Holds what a node or a trainer remembers of its cluster. It is thread-compatible.
class KnownCluster {
 public:
  KnownCluster() = default;
  explicit KnownCluster(ClusterIdentity known) : known_(std::move(known)) {}

  // Returns whether the coordinator that answers as `told` has to be obeyed. Remembers the first cluster that it is
  // told, and the highest epoch of that cluster.
  bool Obeys(const ClusterIdentity& told);
  // Returns why a coordinator that answers as `told` is not obeyed, or "" if it is obeyed.
  std::string WhyNot(const ClusterIdentity& told) const;

  const ClusterIdentity& known() const { return known_; }

 private:
  ClusterIdentity known_;
};

// Checks an answer of a coordinator, such as v1.NodeDirective or v1.TrainerDirective. Returns "" if the coordinator has
// to be obeyed, whose identity `known` then remembers. Otherwise returns why the coordinator is not obeyed.
template <typename Answer>
std::string WhyNotObeyed(const Answer& answer, KnownCluster& known) {
  if (answer.has_superseded_by()) {
    return "it was superseded by " + Describe(FromMessage(answer.superseded_by()));
  }
  const ClusterIdentity told = FromMessage(answer.identity());
  return known.Obeys(told) ? "" : known.WhyNot(told);
}

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_AGREED_CLUSTER_IDENTITY_H_
