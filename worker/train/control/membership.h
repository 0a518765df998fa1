// Declares the members of one generation and what each of them does, as the coordinator made it.
#ifndef REKINDLE_WORKER_TRAIN_CONTROL_MEMBERSHIP_H_
#define REKINDLE_WORKER_TRAIN_CONTROL_MEMBERSHIP_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rekindle::train {

struct Member {
  std::string trainer;
  std::string node;
  std::string address;
  std::string host;
  // In every whole step the member computes the micro-batches [begin, end).
  int begin = 0;
  int end = 0;
  // `holds` and `adds` apply to the interrupted step only.
  std::vector<int> holds;
  std::vector<int> adds;
  bool needs_state = false;
};

struct ShardHolders {
  // `first` and `second` are ranks.
  int first = 0;
  int second = 0;
};

struct Membership {
  enum class Source { kInitial, kRank, kCheckpoint };
  // `generation` is 0 where there is no membership.
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
  // The job has had `interruptions` interruptions until this generation, in `node_hours` hours of its nodes.
  int interruptions = 0;
  double node_hours = 0;
  // `shards` says who holds the optimizer's moments. It is empty when every member has all of them.
  std::vector<ShardHolders> shards;
  // `micro_batch` counts samples. The value 0 means that the size stays as before.
  int micro_batch = 0;
  // `finishing` says that all steps are made. The members only save the final state.
  bool finishing = false;
  // `final_store` is the place for the final state. It is empty when that is the job's store.
  std::string final_store;
  // `lease_seconds` is the length of the lease (see Lease). With 0, silence of the coordinator never ends the
  // generation.
  double lease_seconds = 0;
  // `lease_save_seconds` is the time that the save at the end of the lease may take.
  double lease_save_seconds = 0;
  // `lease_step_seconds` limits the age of another rank's message that its lease holds. An older message does not
  // count.
  double lease_step_seconds = 0;
  // `digest` covers all other fields and is made by the coordinator. It distinguishes two memberships that have the
  // same generation number.
  std::string digest;

  // Returns the rank of `trainer`, or -1 where it is not a member.
  int RankOf(const std::string& trainer) const;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CONTROL_MEMBERSHIP_H_
