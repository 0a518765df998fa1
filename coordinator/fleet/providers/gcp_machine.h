// What machine types of Google Cloud are made of, and how its price list calls those parts. The list names no machine
// types, and which words stand for which family is nowhere in it: the table here says it for those families of which it
// is known, and all others are refused.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_MACHINE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_MACHINE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/strict_json.h"

namespace rekindle::fleet {

// What to do where a price cannot be told.
inline constexpr char kGcpPriceFix[] = "set the pool's price in the fleet file, and remove price_from";

// A part of a machine, and how much of it there is.
struct GcpPart {
  std::vector<std::string> names;  // In all spellings that regions have: "N2 Instance Core".
  double amount = 0;               // Cores, GiB or GPUs.
};
using GcpParts = std::vector<GcpPart>;

// FAILED_PRECONDITION, with the fix: it is not known how machines of this type are priced: those of an unknown family,
// custom ones, those that are called after the disks they bring.
absl::Status CheckGcpType(const std::string& type);

struct GcpMachine {
  std::string type;  // "g2-standard-4".
  bool gpus = false;
  GcpParts parts;
};

// Of a document of Compute Engine's machineTypes. INTERNAL: it tells no machine. FAILED_PRECONDITION, with the fix: it
// shares a core, or one of its parts is not known.
absl::StatusOr<GcpMachine> ParseGcpMachine(const std::string& type, const nlohmann::json& document);

enum class GcpMeasure { kHour, kGibHour };
// All names of parts that a machine may have, and what they are counted by.
const std::map<std::string, GcpMeasure>& GcpPartNames();

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_MACHINE_H_
