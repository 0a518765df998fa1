#include "coordinator/core/choices/micro_batch.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/agreed/agreed_limits.h"
#include "common/digest/hash.h"
#include "common/spec/spec_words.h"
#include "coordinator/core/choices/trainer_notes.h"
#include "coordinator/core/state/text.h"
#include "worker/data/declared/data_kind.h"

namespace rekindle::core {
namespace {

// The global batch has at least `kLeastParts` micro-batches, so that the ranks' shares of the batch can follow the
// speeds of the ranks, and a job can grow.
constexpr int kLeastParts = 4;

constexpr char kGpu[] = "cuda";

int SlotsAtHand(const State& state, const v1::JobSpec& spec) {
  int slots = 0;
  for (const auto& [name, device] : UsableNodes(state, spec)) slots += UsableSlots(state.nodes.at(name).report);
  return slots;
}

// Returns the device with the least memory among the devices of the usable nodes.
v1::Device WeakestDevice(const State& state, const v1::JobSpec& spec) {
  const auto nodes = UsableNodes(state, spec);
  const auto weakest = std::min_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return a.second.memory_bytes() < b.second.memory_bytes();
  });
  return weakest == nodes.end() ? v1::Device() : weakest->second;
}

// Returns the key by which later jobs look up the result of a micro-batch search. It covers all that the result depends
// on, and nothing else. Another seed or learning rate changes neither time nor memory.
std::string KeyOf(const Job& job, v1::Device device) {
  // The same machine may report a few bytes more after a reboot, so its memory is rounded.
  constexpr double kGrain = 64 << 20;
  device.set_memory_bytes(std::round(device.memory_bytes() / kGrain));
  const v1::JobSpec& spec = SpecOf(job);
  v1::JobSpec key;
  *key.mutable_model() = spec.model();
  key.mutable_model()->clear_weights();
  key.mutable_model()->clear_weights_digest();
  for (const data::DataKind* kind : data::DataKinds()) {
    if (kind->copy_size != nullptr) kind->copy_size(spec.data(), key.mutable_data());
  }
  key.mutable_training()->set_global_batch(spec.training().global_batch());
  key.mutable_training()->set_precision(spec.training().precision());
  key.mutable_training()->set_reduce(spec.training().reduce());
  key.mutable_training()->set_activations(spec.training().activations());
  key.mutable_optimizer()->set_kind(spec.optimizer().kind());
  key.mutable_workers()->set_threads_per_rank(spec.workers().threads_per_rank());
  // With a checkpoint store, a trainer also needs memory to stage checkpoints in, so the key tells whether there is
  // one.
  key.mutable_checkpoint()->set_keep_last(spec.checkpoint().store().empty() ? 0 : 1);
  return common::Xxh3_128Hex(absl::StrCat(key.SerializeAsString(), "\n", device.SerializeAsString(), "\n",
                                          job.record.micro_batch_search().at_most()));
}

const v1::JobRecord* FoundEarlier(const State& state, const std::string& key) {
  for (auto uid = state.order.rbegin(); uid != state.order.rend(); ++uid) {
    const v1::JobRecord& record = state.jobs.at(*uid).record;
    if (record.micro_batch_search().micro_batch() > 0 && record.micro_batch_search().key() == key) return &record;
  }
  return nullptr;
}

void Resolve(Turn& turn, Job& job, const v1::MicroBatchSearch& found, v1::LeverStatus lever, const std::string& node) {
  *job.record.mutable_micro_batch_search() = found;
  v1::JobSpec* spec = MutableSpec(job);
  spec->mutable_training()->set_micro_batch(found.micro_batch());
  if (spec->workers().max() == 0) spec->mutable_workers()->set_max(std::min(MicroBatches(job), common::kMaxWorldSize));
  if (!MustStop(job)) SetState(turn, job, v1::PENDING, "waits for workers");
  lever.set_lever(kMicroBatchLever);
  RememberNote(turn, job, lever, node);
  turn.Changed(job);
}

}  // namespace

bool FindsMicroBatch(const Job& job) {
  const v1::JobSpec::Training& training = SpecOf(job).training();
  return training.has_micro_batch() && training.micro_batch() == 0;
}

void ResolveMicroBatch(Turn& turn, Job& job) {
  if (!FindsMicroBatch(job) || IsOver(job) || job.record.micro_batch_search().at_most() > 0) return;
  const int slots = SlotsAtHand(turn.state, SpecOf(job));
  if (slots == 0) return;
  const v1::JobSpec& spec = SpecOf(job);
  const int most = std::max(spec.workers().min(), spec.workers().max() > 0 ? spec.workers().max() : slots);
  const int workers = std::min(most, common::kMaxWorldSize);
  const int parts = std::max(workers, kLeastParts);
  job.record.mutable_micro_batch_search()->set_at_most(std::max(1, spec.training().global_batch() / parts));
  turn.Save(job);
  const v1::JobRecord* earlier = FoundEarlier(turn.state, KeyOf(job, WeakestDevice(turn.state, spec)));
  if (earlier == nullptr) return;
  const v1::MicroBatchSearch& found = earlier->micro_batch_search();
  v1::LeverStatus lever;
  lever.set_seconds_saved(found.seconds());
  lever.set_text(absl::StrCat("micro_batch auto is ", found.micro_batch(), ", as job ", earlier->job().name(),
                              " found on the same kind of device: ", found.reason()));
  Resolve(turn, job, found, lever, "");
}

void TakeMicroBatch(Turn& turn, Job& job, const v1::TrainerReport& report) {
  if (!FindsMicroBatch(job) || report.micro_batch() <= 0 || report.micro_batch_reason().empty()) return;
  v1::MicroBatchSearch found = job.record.micro_batch_search();
  if (SpecOf(job).training().global_batch() % report.micro_batch() != 0) return;
  if (found.at_most() > 0 && report.micro_batch() > found.at_most()) return;
  const auto node = turn.state.nodes.find(report.node());
  const v1::Device device = node == turn.state.nodes.end() ? v1::Device() : node->second.report.device();
  found.set_key(KeyOf(job, device));
  if (device.kind() == kGpu) found.set_memory_bytes(device.memory_bytes());
  found.set_micro_batch(report.micro_batch());
  found.set_reason(Bounded(report.micro_batch_reason()));
  found.set_seconds(report.micro_batch_search_seconds());
  v1::LeverStatus lever;
  lever.set_text(absl::StrCat("micro_batch auto is ", found.micro_batch(), ": ", found.reason(), " (tried on ",
                              ShortName(report.trainer()), " for ", Seconds(found.seconds()), ")"));
  Resolve(turn, job, found, lever, report.node());
}

std::string DescribeShortage(const State& state, const Job& job, const v1::TrainerReport& report) {
  const double needed = job.record.micro_batch_search().memory_bytes();
  const auto node = state.nodes.find(report.node());
  if (needed <= 0 || node == state.nodes.end()) return "";
  const v1::Device& device = node->second.report.device();
  const double memory = device.memory_bytes();
  if (device.kind() != kGpu || memory >= needed * (1 - common::kSearchHeadRoom)) return "";
  return absl::StrFormat(
      "node %s has GPUs with %.3g GB, and the job's micro-batch was found for %.3g GB; drain the node, or submit the "
      "job "
      "again with training.micro_batch set to a size that fits it",
      report.node(), memory / 1e9, needed / 1e9);
}

std::string StaleMicroBatch(const Job& job, const v1::TrainerReport& report) {
  const int wanted = SpecOf(job).training().micro_batch();
  if (wanted <= 0 || report.micro_batch() == 0 || report.micro_batch() == wanted) return "";
  // In a job with `reduce: exact` each trainer has shown the digest of a fixed probe (ProbeDigest), which it computed
  // with its own micro-batch size. So even a member of such a job has to start again when the size changes.
  const bool exact = common::ReduceOf(SpecOf(job).training().reduce()) == common::Reduce::kExact;
  if (!exact && FindMember(job, report.trainer()) != nullptr) return "";
  if (report.micro_batch() == common::kSearchingMicroBatch)
    return absl::StrCat("the job's micro-batch is known: ", wanted);
  return absl::StrCat("the job's micro-batch is ", wanted, ", this trainer computes with ", report.micro_batch());
}

}  // namespace rekindle::core
