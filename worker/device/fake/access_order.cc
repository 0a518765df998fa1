#include "worker/device/fake/access_order.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace rekindle::device {
namespace {

constexpr size_t kHost = kQueues;
constexpr char kHostAccess[] = "the host";

std::string Describe(size_t who, const char* name, bool writes) {
  const char* verb = writes ? " writes" : " reads";
  if (who == kHost) return absl::StrCat("the host", verb);
  return absl::StrCat("'", name, "' on the ", NameOf(static_cast<Queue>(who)), " queue", verb);
}

}  // namespace

void Join(const VectorClock& from, VectorClock* to) {
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] = std::max((*to)[i], from[i]);
}

VectorClock AccessOrder::Launch(Queue queue, const Operation& operation) {
  const auto who = static_cast<size_t>(queue);
  Join(clocks_[kHost], &clocks_[who]);
  ++clocks_[who][who];
  LaunchWithin(queue, operation, clocks_[who]);
  return clocks_[who];
}

void AccessOrder::LaunchWithin(Queue queue, const Operation& operation, const VectorClock& clock) {
  const auto who = static_cast<size_t>(queue);
  for (const Range& range : operation.reads) Touch(who, clock, operation.name, range, false);
  for (const Range& range : operation.writes) Touch(who, clock, operation.name, range, true);
}

void AccessOrder::TouchByHost(const Range& range, bool writes) {
  ++clocks_[kHost][kHost];
  Touch(kHost, clocks_[kHost], kHostAccess, range, writes);
}

VectorClock AccessOrder::Record(Queue queue) const { return clocks_[static_cast<size_t>(queue)]; }

void AccessOrder::After(Queue queue, const VectorClock& mark) { Join(mark, &clocks_[static_cast<size_t>(queue)]); }

void AccessOrder::Await(const VectorClock& mark) { Join(mark, &clocks_[kHost]); }

void AccessOrder::AwaitAll() {
  for (size_t who = 0; who < kQueues; ++who) {
    if (!left_[who]) Join(clocks_[who], &clocks_[kHost]);
  }
}

void AccessOrder::Leave(Queue queue) {
  const auto who = static_cast<size_t>(queue);
  left_[who] = true;
  for (auto& [block, parts] : accesses_) {
    for (auto& [begin, part] : parts) part.reads[who] = {};
  }
}

void AccessOrder::CutAt(Parts& parts, int64_t offset, int64_t block_bytes) {
  if (parts.empty()) parts[0] = {.end = block_bytes};
  auto at = std::prev(parts.upper_bound(offset));
  if (at->first == offset || at->second.end <= offset) return;
  Part behind = at->second;
  at->second.end = offset;
  parts.emplace(offset, behind);
}

void AccessOrder::Touch(size_t who, const VectorClock& clock, const char* name, const Range& range, bool writes) {
  if (range.bytes == 0) return;
  Parts& parts = accesses_[range.block];
  CutAt(parts, range.offset, range.block->bytes());
  CutAt(parts, range.offset + range.bytes, range.block->bytes());
  for (auto at = parts.find(range.offset); at != parts.end() && at->first < range.offset + range.bytes; ++at) {
    Part& part = at->second;
    Check(who, clock, name, writes, range, part.writer, part.write, true);
    if (writes) {
      for (size_t other = 0; other < part.reads.size(); ++other) {
        Check(who, clock, name, writes, range, other, part.reads[other], false);
      }
      part.reads = {};
      part.writer = who;
      part.write = {clock[who], name};
    } else {
      part.reads[who] = {clock[who], name};
    }
  }
}

void AccessOrder::Check(size_t who, const VectorClock& clock, const char* name, bool writes, const Range& range,
                        size_t other, const Access& before, bool wrote) {
  if (before.count == 0 || before.count <= clock[other]) return;
  if (reports_.size() == kMostReports) return;
  std::string report = absl::StrCat(Describe(who, name, writes), " ", range.block->purpose(), " [", range.offset, ", ",
                                    range.offset + range.bytes, "), which ", Describe(other, before.name, wrote),
                                    ": no mark orders them");
  if (std::find(reports_.begin(), reports_.end(), report) == reports_.end()) reports_.push_back(std::move(report));
}

}  // namespace rekindle::device
