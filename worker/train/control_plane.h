// The coordinator as a trainer sees it: facts go up, the directive comes down. Plain structs that mirror
// proto/rekindle/v1/{trainer,membership}.proto, so that the engine sees neither protobuf nor gRPC.
#ifndef REKINDLE_WORKER_TRAIN_CONTROL_PLANE_H_
#define REKINDLE_WORKER_TRAIN_CONTROL_PLANE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/job_file.h"
#include "worker/comm/communicator.h"
#include "worker/train/lease.h"

namespace rekindle::train {

struct Member {
  std::string trainer;
  std::string node;
  std::string address;
  std::string host;
  int begin = 0;  // Micro-batches [begin, end) of every whole step.
  int end = 0;
  std::vector<int> holds;  // Of the interrupted step only.
  std::vector<int> adds;
  bool needs_state = false;
};

struct ShardHolders {
  int first = 0;  // Ranks.
  int second = 0;
};

struct Membership {
  enum class Source { kInitial, kRank, kCheckpoint };
  int generation = 0;           // 0: none.
  std::vector<Member> members;  // Indexed by rank.
  int64_t step = 0;
  int64_t attempt = 0;
  bool interrupted = false;
  Source source = Source::kInitial;
  int source_rank = 0;
  std::string checkpoint;
  std::string reason;
  int interruptions = 0;  // Of the job until this generation, in so many hours of its nodes.
  double node_hours = 0;
  std::vector<ShardHolders> shards;  // Of the optimizer's moments; empty: whole on every member.
  int micro_batch = 0;               // Samples; 0: as before.
  bool finishing = false;            // All steps are made: the final state is saved, and no more.
  std::string final_store;           // Where to; empty: the job's store.
  double lease_seconds = 0;          // See Lease. 0: the coordinator need not be heard of.
  double lease_save_seconds = 0;     // What the save at its end may take.
  double lease_step_seconds = 0;     // Older than this is no word of another rank that its lease holds.
  std::string digest;                // Of all of it, made by the coordinator: tells two of one number apart.

  // The rank of `trainer`, or -1.
  int RankOf(const std::string& trainer) const;
};

enum class Phase { kStarting, kReady, kRunning, kStanding, kInterrupted, kQuiesced, kFinished, kFailed };

struct Accused {
  std::string trainer;
  comm::Accusation::Kind kind;
  std::string detail;
};

struct CheckpointName {
  std::string manifest;  // Empty: none.
  int generation = 0;
  int64_t step = 0;
};

struct DamagedCheckpoint {
  CheckpointName name;
  std::string reason;
};

struct StepLoss {
  int64_t step = 0;
  double value = 0;
};

// What a lever did last, and what it saved so far.
struct LeverNote {
  std::string lever;
  int64_t step = 0;
  std::string text;
  double steps_saved = 0;
  double seconds_saved = 0;
  double bytes_saved = 0;
};

inline constexpr int kSearching = -1;  // Report::micro_batch of a trainer that looks for it.

// All there is to say. See TrainerReport for the meaning of each field.
struct Report {
  Phase phase = Phase::kStarting;
  int generation = 0;
  bool has_state = false;
  int64_t step = 0;
  int64_t attempt = 0;
  std::vector<int> held_blocks;  // Of the moments, [begin, end) one after the other; of total_blocks.
  int total_blocks = 0;          // 0: all of them, whole.
  bool prepared = false;         // Can make them those of the next step by itself.
  std::vector<int> assigned;
  int computed = 0;
  std::vector<Accused> accusations;
  double micro_batch_seconds = 0;
  double step_seconds = 0;
  double step_seconds_p99 = 0;
  std::string data_fingerprint;
  std::string probe_digest;
  CheckpointName restorable;
  bool restorable_verified = false;
  bool restorable_durable = false;
  std::string missing_checkpoint;
  std::string missing_reason;
  std::vector<DamagedCheckpoint> damaged;
  int store_generation = 0;
  int64_t looked = 0;           // The highest Directive::look that was followed.
  std::string stored_job_file;  // The store's job.json as it was seen then; empty once nobody is to look.
  std::vector<std::string> skipped_checkpoints;
  CheckpointName committed;
  std::string restored;  // One sentence: what was restored last, and from where.
  std::string flush;     // One sentence: what was saved before an announced interruption, and why so much.
  std::string checkpoint_error;
  int checkpoints_failed = 0;
  double checkpoint_interval_seconds = 0;  // As this trainer decided as rank 0.
  std::string checkpoint_interval_reason;
  int64_t completed_step = 0;
  double loss = 0;
  double tokens_per_second = 0;
  double learning_rate = 0;
  double loss_scale = 0;
  int64_t skipped_steps = 0;
  int micro_batch = 0;             // 0: not said yet; kSearching.
  std::string micro_batch_reason;  // Not empty: this trainer has found it.
  double micro_batch_search_seconds = 0;
  std::string out_of_memory;                // Interrupted by that: how it was seen.
  std::map<std::string, LeverNote> levers;  // By name.
  StepLoss validation;
  double unigram_bits_per_byte = 0;
  double epoch_steps = 0;  // Steps that read as many samples as there are.
  std::string state_digest;
  std::string straggler_cause;  // As CauseName says; empty: slow at nothing.
  std::string straggler;
  std::string stop_reason;  // Finished before the last step: why.
  std::string error;
  bool error_is_jobs_fault = false;
  bool store_unseen = false;  // It could not look into the job's store, and was told not to wait for that.
};

struct Directive {
  enum class Action { kNone, kWait, kRun, kYield, kExit };
  Action action = Action::kNone;  // kNone: nothing heard yet.
  Membership membership;
  bool checkpoint = false;         // With kYield: commit a checkpoint at the boundary.
  double checkpoint_until = 0;     // Steady seconds, counted from when it was told; 0: no limit.
  std::string find_checkpoint;     // With kWait: what to look for; empty: nothing.
  bool verify_checkpoint = false;  // It counts only once every byte of it was read.
  int64_t look = 0;                // Look for the newest checkpoint anew, when Report::looked is below it.
  bool without_store = false;      // Do not wait until the job's store can be read.
  std::string reason;
  std::string error;
};

// Thread-safe. Publish never blocks; the newest report is delivered until it was answered, for ever.
class ControlPlane {
 public:
  virtual ~ControlPlane() = default;
  // `urgent`: deliver now rather than with the next progress tick.
  virtual void Publish(const Report& report, bool urgent) = 0;
  // A loss of a completed step; delivered with the reports, bounded memory (oldest dropped).
  virtual void AddLoss(const StepLoss& loss) = 0;
  virtual Directive Latest() const = 0;
  // Number that grows with each change of Latest(), and a wait for it to differ from `seen` (or `seconds` to pass).
  virtual int64_t Version() const = 0;
  virtual void WaitForChange(int64_t seen, double seconds) const = 0;
  // The lease of the generation that Latest() names.
  virtual const Lease& lease() const = 0;
  // What the job's store is to keep beside a checkpoint that this rank commits now: asks the coordinator, which takes a
  // second at most, and gives what it told last where it does not answer.
  virtual checkpoint::JobFile JobFileNow() = 0;
  // The same, once more, for a rank that leaves. Empty: the job is not over, or nobody answers within `seconds`.
  virtual std::string JobFileOfEnd(double seconds) = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CONTROL_PLANE_H_
