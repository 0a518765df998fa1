// This file knows what machine types of Google Cloud are made of, and how Google's price list calls those parts. The
// list names no machine types, and it does not say which words stand for which family. The table in gcp_machine.cc
// covers the families for which that is known. All other families are refused.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_MACHINE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_MACHINE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/text/strict_json.h"

namespace rekindle::fleet {

// `kGcpPriceFix` says what to do where a price cannot be found out.
inline constexpr char kGcpPriceFix[] = "set the pool's price in the fleet file, and remove price_from";

// A GcpPart is a part of a machine, and how much of it there is.
struct GcpPart {
  // `names` holds all spellings of the part that Google's regions use, such as "N2 Instance Core".
  std::vector<std::string> names;
  // `amount` counts cores, GiB or GPUs.
  double amount = 0;
};
using GcpParts = std::vector<GcpPart>;

// Returns FAILED_PRECONDITION, with the fix, for a machine type whose pricing is not known: a type of an unknown
// family, a custom type, or a type named after the disks that it brings.
absl::Status CheckGcpType(const std::string& type);

struct GcpMachine {
  // `type` is the name of the machine type, such as "g2-standard-4".
  std::string type;
  bool gpus = false;
  GcpParts parts;
};

// Returns the machine that a document of Compute Engine's machineTypes describes. INTERNAL says that it describes no
// machine. FAILED_PRECONDITION, with the fix, says that the machine shares a core, or that one of its parts is not
// known.
absl::StatusOr<GcpMachine> ParseGcpMachine(const std::string& type, const nlohmann::json& document);

enum class GcpMeasure { kHour, kGibHour };
// Returns the names of all parts that a machine may have, and the measure by which each part is priced.
const std::map<std::string, GcpMeasure>& GcpPartNames();

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_MACHINE_H_
