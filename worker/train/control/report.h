// Declares what a trainer says to the coordinator, as plain values (see proto/rekindle/v1/trainer.proto).
#ifndef REKINDLE_WORKER_TRAIN_CONTROL_REPORT_H_
#define REKINDLE_WORKER_TRAIN_CONTROL_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/comm/contract/communicator.h"

namespace rekindle::train {

enum class Phase { kStarting, kReady, kRunning, kStanding, kInterrupted, kQuiesced, kFinished, kFailed };

struct Accused {
  std::string trainer;
  comm::Accusation::Kind kind;
  std::string detail;
};

struct CheckpointName {
  // `manifest` is the name of the checkpoint's manifest. It is empty where there is no checkpoint.
  std::string manifest;
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

// Says what a lever (docs/levers.md) did last, and how much it has saved so far.
struct LeverNote {
  std::string lever;
  int64_t step = 0;
  std::string text;
  double steps_saved = 0;
  double seconds_saved = 0;
  double bytes_saved = 0;
};

// Describes the GPU on which a trainer computes. TrainerDevice documents the meaning of each field.
struct ReportedDevice {
  std::string uuid;
  int nccl_version = 0;
  std::string no_nccl;
  bool shares_gpu = false;
  bool nccl_left = false;
  bool nccl_failed = false;
};

// Contains all that a trainer reports. TrainerReport documents the meaning of each field.
struct Report {
  Phase phase = Phase::kStarting;
  int generation = 0;
  bool has_state = false;
  int64_t step = 0;
  int64_t attempt = 0;
  // `held_blocks` names the blocks of the optimizer's moments that this rank holds, as a list of pairs [begin, end).
  std::vector<int> held_blocks;
  // `total_blocks` is the number of all blocks of the moments. The value 0 means that the rank holds all moments.
  int total_blocks = 0;
  // `prepared` says that this rank can turn its moments into those of the next step by itself.
  bool prepared = false;
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
  // `looked` is the highest Directive::look for which this trainer has looked into the store.
  int64_t looked = 0;
  // `stored_job_file` is the content of the store's job.json, which the trainer read when it followed the request
  // `looked`. It is empty while the directive does not ask the trainer to look.
  std::string stored_job_file;
  std::vector<std::string> skipped_checkpoints;
  CheckpointName committed;
  // `restored` is one sentence that says what was restored last, and from where.
  std::string restored;
  // `flush` is one sentence that says what was saved before an announced interruption, and why that amount was chosen.
  std::string flush;
  std::string checkpoint_error;
  int checkpoints_failed = 0;
  // `checkpoint_interval_seconds` is the time between two checkpoints, as this trainer chose it when it was rank 0.
  double checkpoint_interval_seconds = 0;
  std::string checkpoint_interval_reason;
  int64_t completed_step = 0;
  double loss = 0;
  double tokens_per_second = 0;
  double learning_rate = 0;
  double loss_scale = 0;
  int64_t skipped_steps = 0;
  // `micro_batch` is the micro-batch size. It is 0 before the size is known, and common::kSearchingMicroBatch during
  // the search for it.
  int micro_batch = 0;
  // `micro_batch_reason` is not empty when this trainer has found the micro-batch size by searching.
  std::string micro_batch_reason;
  double micro_batch_search_seconds = 0;
  // `out_of_memory` is set when a lack of memory interrupted the trainer. It says how that was noticed.
  std::string out_of_memory;
  // `levers` has what each lever (docs/levers.md) has reported last, keyed by the lever's name.
  std::map<std::string, LeverNote> levers;
  StepLoss validation;
  double unigram_bits_per_byte = 0;
  // `epoch_steps` is the number of steps of one epoch, in which as many samples are read as the data has.
  double epoch_steps = 0;
  std::string state_digest;
  // `straggler_cause` is the name, from CauseName(), of what makes this rank slow. It is empty if the rank is not slow.
  std::string straggler_cause;
  std::string straggler;
  // `note` says what the model does beside its work, such as replacing the process in which it computes. It is empty
  // while the model works.
  std::string note;
  // `stop_reason` says why the job finished before the last step.
  std::string stop_reason;
  std::string error;
  // `traceback` has the lines of the user's own code from which `error` came, or nothing.
  std::string traceback;
  bool error_is_jobs_fault = false;
  // `store_unseen` says that the trainer could not look into the job's store, and that the directive allowed it to
  // train nevertheless.
  bool store_unseen = false;
  // `device` is empty if the trainer computes on the processor.
  std::optional<ReportedDevice> device;
};

// Returns Report::note for what a model says of itself. That is its first line, because the others are a traceback,
// made printable and cut to what a report may carry.
std::string NoteOf(const std::string& text);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CONTROL_REPORT_H_
