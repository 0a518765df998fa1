// These tests parse descriptions of machine types as Compute Engine returns them.
#include "coordinator/fleet/providers/gcp/gcp_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string Why(const json& machine) {
  return std::string(ParseGcpMachine("g2-standard-4", machine).status().message());
}

TEST(GcpMachine, TypesOfWhichItIsNotKnownAreRefused) {
  for (const char* type : {"n2-standard-8", "a2-megagpu-16g", "c4d-highmem-96", "t2a-standard-1", "m1-ultramem-40"}) {
    EXPECT_TRUE(CheckGcpType(type).ok()) << type;
  }
  for (const char* type : {"",
                           "n2",
                           "n2-standard",
                           "n2-standard-",
                           "n2-standard-g",
                           "n2-custom-4-8192",
                           "custom-4-8192",
                           "n2-standard-8-ext",
                           "n1-ultramem-40",
                           "n1-megamem-96",
                           "m2-ultramem-208",
                           "c3-standard-4-lssd",
                           "c3-standard-192-metal",
                           "e2-micro",
                           "f1-micro",
                           "g1-small",
                           "z3-highmem-88",
                           "a4-highgpu-8g",
                           "a3-edgegpu-8g",
                           "ct5lp-hightpu-4t",
                           "N2-standard-8"}) {
    const absl::Status refused = CheckGcpType(type);
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << type;
    EXPECT_THAT(std::string(refused.message()), HasSubstr(absl::StrCat(type, " is not known: set the pool's price")))
        << type;
  }
}

TEST(GcpMachine, MachinesThatAreNoneAreRefused) {
  const json good = {{"kind", "compute#machineType"},
                     {"name", "g2-standard-4"},
                     {"guestCpus", 4},
                     {"memoryMb", 16384},
                     {"isSharedCpu", false},
                     {"accelerators", {{{"guestAcceleratorType", "nvidia-l4"}, {"guestAcceleratorCount", 1}}}}};
  const auto parsed = ParseGcpMachine("g2-standard-4", good);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->gpus);
  ASSERT_THAT(parsed->parts, SizeIs(3));
  EXPECT_THAT(parsed->parts[1].names, ElementsAre("G2 Instance Ram"));
  EXPECT_EQ(parsed->parts[1].amount, 16);
  const auto with = [&](const char* where, const json& value) {
    json machine = good;
    machine[json::json_pointer(where)] = value;
    return machine;
  };
  for (const json& machine :
       {with("/guestCpus", 0), with("/guestCpus", -4), with("/guestCpus", "4"), with("/guestCpus", 4.5),
        with("/guestCpus", 1e18), with("/memoryMb", nullptr), with("/memoryMb", 0), with("/accelerators", 7),
        with("/accelerators", json::object()), with("/accelerators/0", nullptr),
        with("/accelerators/1", good["accelerators"][0]), with("/accelerators/0/guestAcceleratorType", ""),
        with("/accelerators/0/guestAcceleratorCount", 0), with("/accelerators/0/guestAcceleratorCount", 65),
        with("/accelerators", nullptr), with("/accelerators", json::array())}) {
    EXPECT_EQ(ParseGcpMachine("g2-standard-4", machine).status().code(), absl::StatusCode::kInternal) << machine;
  }
  EXPECT_EQ(ParseGcpMachine("g2-standard-8", good).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(ParseGcpMachine("g2-standard-4", json::array()).status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(Why(with("/isSharedCpu", true)), HasSubstr("g2-standard-4 has a part of a core only: set"));
  EXPECT_THAT(Why(with("/accelerators/0/guestAcceleratorType", "nvidia-new")),
              HasSubstr("how Google Cloud prices nvidia-new of g2-standard-4 is not known: set"));
}

}  // namespace
}  // namespace rekindle::fleet
