#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/client_core.h"
#include "common/clock.h"
#include "common/shared_memory.h"

namespace rekindle::checkpoint {
namespace {

class Staged : public StagedShards {
 public:
  Staged(ClientCore& core, int generation, int step, int64_t total)
      : core_(core), generation_(generation), step_(step), total_(total) {}
  ~Staged() override;

  absl::Status Reserve(const std::vector<ShardRange>& ranges);
  absl::Status Copy(const StateView& state) override;
  const std::vector<ShardRef>& refs() const override { return refs_; }
  absl::Status Commit() override;

 private:
  struct Part {
    ShardRange range;
    std::string segment;  // Empty once committed.
    common::SharedMemory memory;
  };
  absl::Status Open(int64_t bytes, Part* part);
  absl::Status CommitPart(const ShardRef& ref, Part* part);

  ClientCore& core_;
  const int generation_;
  const int step_;
  const int64_t total_;
  std::vector<Part> parts_;
  std::vector<ShardRef> refs_;
};

Staged::~Staged() {
  std::vector<std::string> segments;
  for (const Part& part : parts_) {
    if (!part.segment.empty()) segments.push_back(part.segment);
  }
  core_.Release(generation_, segments);
}

absl::Status Staged::Open(int64_t bytes, Part* part) {
  v1::OpenStagingRequest request;
  core_.FillOwner(generation_, request.mutable_owner());
  request.set_store(core_.options().store);
  request.set_bytes(static_cast<double>(bytes));
  const double until = common::SteadySeconds() + core_.options().patience_seconds;
  while (true) {
    v1::OpenStagingReply reply;
    const absl::Status opened = core_.Call(&CheckpointsStub::OpenStaging, request, &reply);
    if (!opened.ok()) return opened;
    part->segment = reply.segment();
    auto memory =
        common::SharedMemory::Map(reply.path(), static_cast<size_t>(bytes), common::SharedMemory::Access::kReadWrite);
    // Not there: the service was restarted since it answered.
    if (absl::IsNotFound(memory.status()) && common::SteadySeconds() < until) continue;
    if (!memory.ok()) return memory.status();
    part->memory = *std::move(memory);
    return absl::OkStatus();
  }
}

absl::Status Staged::Reserve(const std::vector<ShardRange>& ranges) {
  for (const ShardRange& range : ranges) {
    Part& part = parts_.emplace_back();
    part.range = range;
    if (absl::Status status = Open(ShardBytes(total_, range), &part); !status.ok()) return status;
  }
  refs_.resize(parts_.size());
  return absl::OkStatus();
}

absl::Status Staged::Copy(const StateView& state) {
  if (state.total != total_) {
    return absl::InvalidArgumentError(absl::StrCat("staged for ", total_, " elements, the state has ", state.total));
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.memory.size() == 0) return absl::FailedPreconditionError("these shards are committed");
    auto hash = WriteShard(state, part.range, part.memory.span());
    if (!hash.ok()) return hash.status();
    refs_[i] = {.name = *hash + ".safetensors",
                .bytes = static_cast<int64_t>(part.memory.size()),
                .xxh3 = *hash,
                .generation = generation_,
                .index = part.range.index,
                .count = part.range.count};
  }
  return absl::OkStatus();
}

absl::Status Staged::CommitPart(const ShardRef& ref, Part* part) {
  const double until = common::SteadySeconds() + core_.options().commit_seconds;
  while (true) {
    v1::CommitShardRequest request;
    core_.FillOwner(generation_, request.mutable_owner());
    request.set_store(core_.options().store);
    request.set_segment(part->segment);
    request.set_step(step_);
    request.set_xxh3(ref.xxh3);
    v1::ShardRef reply;
    const absl::Status status =
        core_.Call(&CheckpointsStub::CommitShard, request, &reply, core_.options().commit_seconds);
    if (status.ok()) break;
    if (!absl::IsNotFound(status) || common::SteadySeconds() >= until) return status;
    // The service was restarted and has dropped the segment; its memory is still mapped here.
    common::SharedMemory kept = std::move(part->memory);
    if (absl::Status opened = Open(ref.bytes, part); !opened.ok()) {
      part->memory = std::move(kept);
      return opened;
    }
    std::memcpy(part->memory.data(), kept.data(), kept.size());
  }
  part->segment.clear();
  part->memory = {};
  return absl::OkStatus();
}

absl::Status Staged::Commit() {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].segment.empty()) continue;
    if (refs_[i].count == 0) return absl::FailedPreconditionError("Commit needs a Copy before it");
    if (absl::Status status = CommitPart(refs_[i], &parts_[i]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<StagedShards>> StageShards(ClientCore& core, int generation, int step, int64_t total,
                                                          const std::vector<ShardRange>& ranges) {
  auto staged = std::make_unique<Staged>(core, generation, step, total);
  if (absl::Status status = staged->Reserve(ranges); !status.ok()) return status;
  return staged;
}

}  // namespace rekindle::checkpoint
