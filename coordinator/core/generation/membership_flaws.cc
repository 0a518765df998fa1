#include "coordinator/core/generation/membership_flaws.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/formation/ranges.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr size_t kMaxName = 300;

// Returns whether `numbers` has each of 0..count-1 once.
bool IsPartition(std::vector<int> numbers, int count) {
  std::sort(numbers.begin(), numbers.end());
  if (static_cast<int>(numbers.size()) != count) return false;
  for (int i = 0; i < count; ++i) {
    if (numbers[i] != i) return false;
  }
  return true;
}

bool IsDuration(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

std::string FindFlawIn(const v1::Member& member, int rank) {
  const std::string& id = member.trainer();
  const bool named = !id.empty() && id.size() <= kMaxName && NodeOf(id) == member.node() && SlotOf(id) >= 0;
  if (!named || member.rank() != rank) return absl::StrCat("rank ", rank, " is no trainer of its node");
  if (member.address().size() > kMaxName || member.host().size() > kMaxName) return "an address is too long";
  return "";
}

std::string FindFlawInWork(const v1::Membership& told, int micro_batches) {
  std::vector<int> added;
  int next = 0;
  for (const v1::Member& member : told.members()) {
    if (member.begin() != next || member.end() <= member.begin() || member.end() > micro_batches) {
      return "its ranges are not each micro-batch once";
    }
    next = member.end();
    added.insert(added.end(), member.holds().begin(), member.holds().end());
    added.insert(added.end(), member.adds().begin(), member.adds().end());
  }
  if (next != micro_batches) return "its ranges are not each micro-batch once";
  if (told.interrupted() && !IsPartition(added, micro_batches)) return "its step is not each micro-batch once";
  return "";
}

}  // namespace

std::string FindFlawInDeal(const v1::Membership& told, const Job& job) {
  if (told.members_size() < 1 || told.members_size() > common::kMaxWorldSize) return "it has no members, or too many";
  std::set<std::string> trainers;
  for (int rank = 0; rank < told.members_size(); ++rank) {
    if (std::string flaw = FindFlawIn(told.members(rank), rank); !flaw.empty()) return flaw;
    if (!trainers.insert(told.members(rank).trainer()).second) return "one trainer has two ranks";
  }
  const int batch = SpecOf(job).training().global_batch();
  if (told.micro_batch() <= 0 || batch % told.micro_batch() != 0) return "its micro-batch does not divide the batch";
  const int micro_batches = batch / told.micro_batch();
  const int divided = told.finishing() ? MicroBatchesToSave(micro_batches, told.members_size()) : micro_batches;
  if (std::string flaw = FindFlawInWork(told, divided); !flaw.empty()) return flaw;
  const auto is_rank = [&](int rank) { return rank >= 0 && rank < told.members_size(); };
  if (told.source().has_rank() && !is_rank(told.source().rank())) return "its source is no member";
  for (const v1::ShardHolders& shard : told.shards()) {
    if (!is_rank(shard.first()) || !is_rank(shard.second())) return "a shard's holder is no member";
  }
  return "";
}

std::string FindFlawIn(const v1::Membership& told, const Job& job) {
  if (std::string flaw = FindFlawInDeal(told, job); !flaw.empty()) return flaw;
  if (told.step() < 0 || told.step() > SpecOf(job).training().steps() || told.attempt() < 0) {
    return "its step is none of the job's";
  }
  if (!IsDuration(told.lease_seconds()) || !IsDuration(told.lease_save_seconds()) ||
      !IsDuration(told.lease_step_seconds())) {
    return "its lease is no time";
  }
  return DigestOf(told) == told.digest() ? "" : "its digest is not that of its content";
}

}  // namespace rekindle::core
