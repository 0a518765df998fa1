#include "cli/list/node_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/text/number_text.h"
#include "cli/text/safe_text.h"

namespace rekindle::cli {
namespace {

// Returns the pool of a node, such as "us-east-2a/t/spot", with "(unpriced)" if the fleet file has no such pool.
std::string Pool(const v1::Node& node) {
  if (node.pool().empty()) return "";
  return absl::StrCat(Printable(node.pool()), node.capacity() == "unpriced" ? " (unpriced)" : "");
}

// Returns the device of a node, such as "cuda sm_90" or "cpu". It is empty if the agent did not report the device.
std::string DeviceText(const v1::Device& device) {
  if (device.compute_capability() <= 0) return Printable(device.kind());
  return absl::StrCat(Printable(device.kind()), " sm_", device.compute_capability());
}

// Returns how many slots run a trainer, as "2/8", and how many have failed.
std::string Used(const v1::Node& node) {
  const std::string failed = node.slot_faults().empty() ? "" : absl::StrCat(" (", node.slot_faults_size(), " failed)");
  return absl::StrCat(node.trainers_size(), "/", node.slots(), failed);
}

// Returns why the node is in its state, and what is wrong with the first slot that has failed.
std::string Reason(const v1::Node& node) {
  if (node.slot_faults().empty()) return node.reason();
  const v1::SlotFault& first = node.slot_faults(0);
  return absl::StrCat(node.reason(), node.reason().empty() ? "" : "; ", "slot ", first.slot(), ": ", first.words());
}

}  // namespace

std::vector<std::string> NodeCells(const v1::Node& node) {
  return {
      Printable(node.name()),
      node.state(),
      Used(node),
      Pool(node),
      node.capacity() == "unpriced" ? "" : Printable(node.capacity()),
      Printable(node.zone()),
      DeviceText(node.device()),
      node.device().memory_bytes() > 0 ? absl::StrCat(Fixed(node.device().memory_bytes() / (1 << 30), 1), " GiB") : "",
      Printable(node.isolation()),
      absl::StrCat(Span(node.last_seen_seconds()), " ago"),
      Printable(node.version()),
      Printable(absl::StrJoin(node.trainers(), " ")),
      Printable(Reason(node))};
}

FittedTable NodeTable(const std::vector<std::vector<std::string>>& rows) {
  FittedTable table({{.head = "NODE", .least = 12},
                     {.head = "STATE"},
                     {.head = "USED"},
                     {.head = "POOL", .rank = 2, .least = 12},
                     {.head = "CAPACITY", .rank = 3},
                     {.head = "ZONE", .rank = 3, .least = 10},
                     {.head = "DEVICE", .rank = 2},
                     {.head = "MEMORY", .rank = 3},
                     {.head = "ISOLATION", .rank = 4},
                     {.head = "SEEN", .rank = 1},
                     {.head = "VERSION", .rank = 4},
                     {.head = "TRAINERS", .rank = 5, .least = 12},
                     {.head = "REASON", .least = 14}});
  for (const auto& row : rows) table.Add(row);
  return table;
}

}  // namespace rekindle::cli
