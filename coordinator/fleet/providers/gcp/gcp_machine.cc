#include "coordinator/fleet/providers/gcp/gcp_machine.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/text/printable.h"
#include "coordinator/fleet/providers/http/cloud_api.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;

constexpr int kMaxCores = 10'000;
constexpr int kMaxMemoryMb = 1 << 30;
constexpr int kMaxGpus = 64;
constexpr char kCore[] = " Core";
constexpr char kRam[] = " Ram";

// A Family says how the price list calls the cores and the memory of a machine family, in all spellings that Google's
// regions use.
struct Family {
  const char* name;
  // `classes` lists the machine classes, such as "standard", that are priced by their parts. If the family has other
  // classes, they are priced in another way.
  std::vector<std::string> classes;
  std::vector<std::string> words;
  // `gpus` says that the family brings GPUs. A description of such a machine type without GPUs is not believed.
  bool gpus = false;
};

std::vector<Family> KnownFamilies() {
  const std::vector<std::string> usual = {"standard", "highmem", "highcpu"};
  const std::vector<std::string> large = {"megamem", "ultramem"};
  return {{"a2", {"highgpu", "megagpu", "ultragpu"}, {"A2 Instance"}, true},
          {"a3", {"highgpu"}, {"A3 Instance"}, true},
          {"a3", {"megagpu"}, {"A3Plus Instance"}, true},
          {"a3", {"ultragpu"}, {"A3Ultra Instance"}, true},
          {"c2", {"standard"}, {"Compute optimized", "Compute optimized Instance"}},
          {"c2d", usual, {"C2D AMD Instance"}},
          {"c3", usual, {"C3 Instance"}},
          {"c3d", usual, {"C3D Instance"}},
          {"c4", usual, {"C4 Instance"}},
          {"c4a", usual, {"C4A Arm Instance"}},
          {"c4d", usual, {"C4D Instance"}},
          {"e2", usual, {"E2 Instance"}},
          {"g2", {"standard"}, {"G2 Instance"}, true},
          {"h3", {"standard"}, {"H3 Instance"}},
          {"m1", large, {"Memory-optimized Instance"}},
          {"m3", large, {"M3 Memory-optimized Instance"}},
          {"n1", usual, {"N1 Predefined Instance"}},
          {"n2", usual, {"N2 Instance"}},
          {"n2d", usual, {"N2D AMD Instance"}},
          {"n4", usual, {"N4 Instance"}},
          {"t2a", {"standard"}, {"T2A Arm Instance"}},
          {"t2d", {"standard"}, {"T2D AMD Instance"}}};
}

const std::vector<Family>& Families() {
  static const auto* families = new std::vector<Family>(KnownFamilies());
  return *families;
}

// Returns how Google's price list calls the GPUs that machine types bring, in all spellings.
const std::map<std::string, std::vector<std::string>>& Gpus() {
  static const auto* gpus = new std::map<std::string, std::vector<std::string>>{
      {"nvidia-a100-80gb", {"Nvidia Tesla A100 80GB GPU"}},
      {"nvidia-h100-80gb", {"Nvidia H100 80GB GPU"}},
      {"nvidia-h100-mega-80gb",
       {"Nvidia H100 80GB Mega GPU", "Nvidia H100 Mega 80GB GPU", "Nvidia H100 80GB Plus GPU"}},
      {"nvidia-h200-141gb", {"H200 141GB GPU"}},
      {"nvidia-l4", {"Nvidia L4 GPU"}},
      {"nvidia-tesla-a100", {"Nvidia Tesla A100 GPU"}}};
  return *gpus;
}

// Returns the family of a machine type, or null where it is not known. The type must be FAMILY-CLASS-SIZE or
// FAMILY-CLASS-SIZEg. Longer names belong to machines that are custom, are metal or bring disks.
const Family* FamilyOf(const std::string& type) {
  const std::vector<std::string> parts = absl::StrSplit(type, '-');
  if (parts.size() != 3) return nullptr;
  absl::string_view size = parts[2];
  absl::ConsumeSuffix(&size, "g");
  if (size.empty() || !std::all_of(size.begin(), size.end(), absl::ascii_isdigit)) return nullptr;
  for (const Family& family : Families()) {
    if (parts[0] != family.name) continue;
    if (std::find(family.classes.begin(), family.classes.end(), parts[1]) != family.classes.end()) return &family;
  }
  return nullptr;
}

std::vector<std::string> With(std::vector<std::string> words, const char* end) {
  for (std::string& each : words) each += end;
  return words;
}

std::optional<int> Count(const json& value, int most) {
  const bool fit = value.is_number_integer() && value.get<int64_t>() > 0 && value.get<int64_t>() <= most;
  return fit ? std::optional(value.get<int>()) : std::nullopt;
}

absl::Status NotKnown(const std::string& what) {
  return absl::FailedPreconditionError(
      absl::StrCat("how Google Cloud prices ", common::Printable(what, 64), " is not known: ", kGcpPriceFix));
}

absl::Status NoMachine(const std::string& type) {
  return absl::InternalError(absl::StrCat("Compute Engine tells no machine of type ", type));
}

absl::Status AddGpus(const json& accelerators, GcpMachine& machine) {
  if (accelerators.is_null()) return absl::OkStatus();
  if (!accelerators.is_array() || accelerators.size() > kMaxGpus) return NoMachine(machine.type);
  std::set<std::string> seen;
  for (const json& each : accelerators) {
    const std::string type = common::StringOr(each, "guestAcceleratorType");
    const auto count = Count(Member(each, "guestAcceleratorCount"), kMaxGpus);
    if (type.empty() || !count || !seen.insert(type).second) return NoMachine(machine.type);
    const auto names = Gpus().find(type);
    if (names == Gpus().end()) return NotKnown(absl::StrCat(type, " of ", machine.type));
    machine.parts.push_back({names->second, static_cast<double>(*count)});
    machine.gpus = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckGcpType(const std::string& type) {
  return FamilyOf(type) == nullptr ? NotKnown(type) : absl::OkStatus();
}

absl::StatusOr<GcpMachine> ParseGcpMachine(const std::string& type, const json& document) {
  const Family* family = FamilyOf(type);
  if (family == nullptr) return NotKnown(type);
  const auto cores = Count(Member(document, "guestCpus"), kMaxCores);
  const auto memory = Count(Member(document, "memoryMb"), kMaxMemoryMb);
  if (common::StringOr(document, "name") != type || !cores || !memory) return NoMachine(type);
  const json& shared = Member(document, "isSharedCpu");
  if (!shared.is_null() && shared != false) {
    return absl::FailedPreconditionError(absl::StrCat(type, " has a part of a core only: ", kGcpPriceFix));
  }
  GcpMachine machine{.type = type,
                     .parts = {{With(family->words, kCore), static_cast<double>(*cores)},
                               {With(family->words, kRam), *memory / 1024.0}}};
  if (absl::Status added = AddGpus(Member(document, "accelerators"), machine); !added.ok()) return added;
  if (family->gpus && !machine.gpus) return NoMachine(type);
  return machine;
}

const std::map<std::string, GcpMeasure>& GcpPartNames() {
  static const auto* parts = [] {
    auto* all = new std::map<std::string, GcpMeasure>;
    for (const Family& family : Families()) {
      for (const std::string& name : With(family.words, kCore)) (*all)[name] = GcpMeasure::kHour;
      for (const std::string& name : With(family.words, kRam)) (*all)[name] = GcpMeasure::kGibHour;
    }
    for (const auto& [type, names] : Gpus()) {
      for (const std::string& name : names) (*all)[name] = GcpMeasure::kHour;
    }
    return all;
  }();
  return *parts;
}

}  // namespace rekindle::fleet
