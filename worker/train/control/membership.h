// Declares the membership of a generation: its members and what each of them does, as the coordinator decided it.
#ifndef REKINDLE_WORKER_TRAIN_CONTROL_MEMBERSHIP_H_
#define REKINDLE_WORKER_TRAIN_CONTROL_MEMBERSHIP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "worker/device/exchange/transport.h"

namespace rekindle::train {

struct Member {
  std::string trainer;
  std::string node;
  std::string address;
  std::string host;
  // In every whole step the member computes the micro-batches with the indices [begin, end).
  int begin = 0;
  int end = 0;
  // `holds` and `adds` are micro-batches of the step that the generation before left unfinished: those that the member
  // has computed already, and those that it has to compute.
  std::vector<int> holds;
  std::vector<int> adds;
  bool needs_state = false;
};

struct ShardHolders {
  // `first` and `second` are the ranks that hold one shard of the optimizer's moments.
  int first = 0;
  int second = 0;
};

struct Membership {
  enum class Source { kInitial, kRank, kCheckpoint };
  // `generation` is the number of the generation. It is 0 where there is no membership.
  int generation = 0;
  // `members` is indexed by rank.
  std::vector<Member> members;
  int64_t step = 0;
  int64_t attempt = 0;
  bool interrupted = false;
  Source source = Source::kInitial;
  int source_rank = 0;
  std::string checkpoint;
  std::string reason;
  // Before this generation the job had `interruptions` interruptions, in `node_hours` hours summed over its nodes.
  int interruptions = 0;
  double node_hours = 0;
  // `shards` names the holders of each shard of the optimizer's moments. It is empty when every member has all moments.
  std::vector<ShardHolders> shards;
  // `micro_batch` is the number of samples of a micro-batch. The value 0 means that the size stays as before.
  int micro_batch = 0;
  // `finishing` says that all steps of the job are made, so that the members only save the final state.
  bool finishing = false;
  // `final_store` is the store that takes the final state. It is empty when that is the job's own store.
  std::string final_store;
  // `lease_seconds` is the length of the lease (see Lease). With 0, silence of the coordinator never ends the
  // generation.
  double lease_seconds = 0;
  // `lease_save_seconds` is the time that the save at the end of the lease may take.
  double lease_save_seconds = 0;
  // A message in which another rank says that its lease holds counts only while the message is at most
  // `lease_step_seconds` old.
  double lease_step_seconds = 0;
  // `transport` carries what the members' devices exchange.
  device::Transport transport = device::Transport::kHost;
  // `digest` is a digest of all other fields, which the coordinator computes. It distinguishes two memberships that
  // have the same generation number.
  std::string digest;

  // Returns the rank of `trainer`, or -1 where it is not a member.
  int RankOf(const std::string& trainer) const;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CONTROL_MEMBERSHIP_H_
