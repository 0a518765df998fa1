// These tests compute the prices of machines from lines of Google's price list, in the form in which Google shows them.
#include "coordinator/fleet/providers/gcp/gcp_skus.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/providers/testing/gcp_sku_testing.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Returns the price list of one region, with all kinds of lines that could lead to a wrong price.
std::vector<json> Skus() {
  const json commitment = {{"category", {{"usageType", "Commit1Yr"}}}};
  return {Sku("N1 Predefined Instance Core running in Americas", 0.031611,
              {{"category", {{"resourceGroup", "N1Standard"}}}}),
          Sku("N1 Predefined Instance Ram running in Americas", 0.004237,
              {{"category", {{"resourceGroup", "N1Standard"}}}}),
          Sku("Spot Preemptible N1 Predefined Instance Core running in Americas", 0.006655),
          Sku("Spot Preemptible N1 Predefined Instance Ram running in Americas", 0.000892),
          Sku("Custom Instance Core running in Americas", 0.033174),
          Sku("N2 Instance Core running in Americas", 0.031612),
          Sku("N2 Instance Ram running in Americas", 0.004238),
          Sku("Spot Preemptible N2 Instance Core running in Americas", 0.0077),
          Sku("Spot Preemptible N2 Instance Ram running in Americas", 0.001),
          Sku("N2 Custom Instance Core running in Americas", 0.9),
          Sku("N2 Custom Extended Instance Ram running in Americas", 0.9),
          Sku("N2 Sole Tenancy Instance Core running in Americas", 0.9),
          Sku("Sole Tenancy Premium for N2 Sole Tenancy Instance Core running in Americas", 0.9),
          Sku("Commitment v1: N2 Cpu in Americas for 1 Year", 0.019915, commitment),
          Sku("N2 Instance Core running in Americas", 0.01, commitment),
          Sku("N2 Instance Core running in Americas", 0.01, {{"category", {{"resourceFamily", "License"}}}}),
          Sku("N2 Instance Core running in EMEA", 0.5, {{"serviceRegions", json::array({"europe-west1"})}}),
          Sku("N2D AMD Instance Core running in Americas", 0.0275),
          Sku("E2 Instance Core running in Americas", 0.02181159),
          Sku("E2 Instance Ram running in Americas", 0.00292353),
          Sku("Spot Preemptible E2 Instance Core running in Americas", 0.006543),
          Sku("Spot Preemptible E2 Instance Ram running in Americas", 0.000877),
          Sku("G2 Instance Core running in Americas", 0.02498813),
          Sku("G2 Instance Ram running in Americas", 0.00292735),
          Sku("Spot Preemptible G2 Instance Core running in Americas", 0.01277),
          Sku("Spot Preemptible G2 Instance Ram running in Americas", 0.001496),
          Sku("DWS Defined Duration G2 Core running in Americas", 0.001),
          Sku("Nvidia L4 GPU running in Americas", 0.560040),
          Sku("Nvidia L4 GPU attached to Spot Preemptible VMs running in Americas", 0.2862),
          Sku("Nvidia L4 GPU attached to DWS Defined Duration VMs running in Americas", 0.1),
          Sku("Nvidia L4 Virtual Workstation GPU running in Americas", 0.76),
          Sku("A2 Instance Core running in Americas", 0.031611),
          Sku("A2 Instance Ram running in Americas", 0.004237),
          Sku("Spot Preemptible A2 Instance Core running in Americas", 0.0189),
          Sku("Spot Preemptible A2 Instance Ram running in Americas", 0.0025),
          Sku("Reserved A2 Ram in Americas", 0.0001),
          Sku("Nvidia Tesla A100 GPU running in Americas", 2.933908),
          Sku("Nvidia Tesla A100 80GB GPU running in Americas", 3.92781),
          Sku("Reserved Nvidia Tesla A100 GPU in Americas in Calendar Mode", 0.5),
          Sku("Nvidia Tesla A100 GPU attached to Spot Preemptible VMs running in Americas", 1.7603)};
}

json Machine(const std::string& type, int cores, int mb, const json& accelerators = nullptr) {
  json machine = {{"kind", "compute#machineType"},
                  {"id", "801016"},
                  {"name", type},
                  {"guestCpus", cores},
                  {"memoryMb", mb},
                  {"imageSpaceGb", 0},
                  {"maximumPersistentDisks", 128},
                  {"zone", "us-east1"},
                  {"isSharedCpu", false}};
  if (!accelerators.is_null()) machine["accelerators"] = accelerators;
  return machine;
}

json Gpus(const std::string& type, int count) {
  return json::array({{{"guestAcceleratorType", type}, {"guestAcceleratorCount", count}}});
}

absl::StatusOr<double> Price(const json& machine, bool spot, const std::vector<json>& skus = Skus(),
                             const std::string& currency = "USD") {
  GcpRates rates;
  if (absl::Status taken = TakeGcpSkus({{"skus", skus}}, currency, {"us-east1"}, rates); !taken.ok()) return taken;
  const auto parsed = ParseGcpMachine(machine.at("name"), machine);
  return parsed.ok() ? GcpPrice(*parsed, "us-east1", spot, rates) : parsed.status();
}

// Returns the price list of Skus() together with the line `sku`. Where `instead` is true, `sku` replaces the line with
// the same description.
std::vector<json> With(const json& sku, bool instead = false) {
  std::vector<json> skus;
  for (const json& each : Skus()) {
    if (!instead || each["description"] != sku["description"]) skus.push_back(each);
  }
  skus.push_back(sku);
  return skus;
}

std::string Why(const absl::StatusOr<double>& price) { return std::string(price.status().message()); }

TEST(GcpSkus, AMachineCostsItsParts) {
  const double cent = 1e-9;
  EXPECT_NEAR(Price(Machine("n1-standard-2", 2, 7680), false).value_or(0), 2 * 0.031611 + 7.5 * 0.004237, cent);
  EXPECT_NEAR(Price(Machine("n1-standard-2", 2, 7680), true).value_or(0), 2 * 0.006655 + 7.5 * 0.000892, cent);
  EXPECT_NEAR(Price(Machine("n2-standard-8", 8, 32768), false).value_or(0), 8 * 0.031612 + 32 * 0.004238, cent);
  EXPECT_NEAR(Price(Machine("n2-standard-8", 8, 32768), true).value_or(0), 8 * 0.0077 + 32 * 0.001, cent);
  EXPECT_NEAR(Price(Machine("e2-highcpu-16", 16, 16384), true).value_or(0), 16 * 0.006543 + 16 * 0.000877, cent);
  EXPECT_NEAR(Price(Machine("g2-standard-4", 4, 16384, Gpus("nvidia-l4", 1)), true).value_or(0),
              4 * 0.01277 + 16 * 0.001496 + 0.2862, cent);
  EXPECT_NEAR(Price(Machine("g2-standard-24", 24, 98304, Gpus("nvidia-l4", 2)), false).value_or(0),
              24 * 0.02498813 + 96 * 0.00292735 + 2 * 0.560040, cent);
  EXPECT_NEAR(Price(Machine("a2-highgpu-2g", 24, 174080, Gpus("nvidia-tesla-a100", 2)), true).value_or(0),
              24 * 0.0189 + 170 * 0.0025 + 2 * 1.7603, cent);
  EXPECT_NEAR(Price(Machine("a2-ultragpu-1g", 12, 174080, Gpus("nvidia-a100-80gb", 1)), false).value_or(0),
              12 * 0.031611 + 170 * 0.004237 + 3.92781, cent);
}

TEST(GcpSkus, SpellingsOfRegionsAreOneFamily) {
  for (const char* words : {"Compute optimized", "Compute optimized Instance"}) {
    const std::vector<json> skus = {Sku(absl::StrCat(words, " Core running in Dallas"), 0.03),
                                    Sku(absl::StrCat(words, " Ram running in Dallas"), 0.01)};
    EXPECT_NEAR(Price(Machine("c2-standard-4", 4, 16384), false, skus).value_or(0), 0.28, 1e-9) << words;
  }
  for (const char* gpu : {"H100 80GB Mega", "H100 Mega 80GB", "H100 80GB Plus"}) {
    const std::vector<json> skus = {
        Sku("A3Plus Instance Core running in Americas", 0.027), Sku("A3Plus Instance Ram running in Americas", 0.002),
        Sku("A3 Instance Core running in Americas", 9), Sku("Nvidia H100 80GB GPU running in Americas", 9),
        Sku(absl::StrCat("Nvidia ", gpu, " GPU running in Americas"), 10.25)};
    EXPECT_NEAR(
        Price(Machine("a3-megagpu-8g", 208, 1916928, Gpus("nvidia-h100-mega-80gb", 8)), false, skus).value_or(0),
        208 * 0.027 + 1872 * 0.002 + 82, 1e-6)
        << gpu;
  }
}

TEST(GcpSkus, MemoryByTheGigabyteIsConverted) {
  const json ram = Sku("C4D Instance Ram running in Americas", 0.003495578);
  json decimal = ram;
  decimal["pricingInfo"][0]["pricingExpression"]["usageUnit"] = "GBy.h";
  const std::vector<json> skus = {Sku("C4D Instance Core running in Americas", 0.03), decimal};
  EXPECT_NEAR(Price(Machine("c4d-standard-8", 8, 31744), false, skus).value_or(0),
              0.24 + 31 * 1.073741824 * 0.003495578, 1e-9);
}

TEST(GcpSkus, WhatHasNoPriceIsNamed) {
  const auto none = Price(Machine("n2d-standard-2", 2, 8192), false);
  EXPECT_TRUE(absl::IsNotFound(none.status()));
  EXPECT_THAT(Why(none), HasSubstr("tells no on-demand price of N2D AMD Instance Ram of n2d-standard-2 in us-east1: "));
  EXPECT_THAT(Why(none), HasSubstr("set the pool's price in the fleet file, and remove price_from"));
  EXPECT_THAT(Why(Price(Machine("n2d-standard-2", 2, 8192), true)),
              HasSubstr("no spot price of N2D AMD Instance Core"));
  EXPECT_THAT(Why(Price(Machine("a2-ultragpu-1g", 12, 174080, Gpus("nvidia-a100-80gb", 1)), true)),
              HasSubstr("no spot price of Nvidia Tesla A100 80GB GPU of a2-ultragpu-1g"));
}

TEST(GcpSkus, SeveralPricesAreNone) {
  const json machine = Machine("n2-standard-8", 8, 32768);
  const auto several = Price(machine, false, With(Sku("N2 Instance Core running in Virginia", 0.0317)));
  EXPECT_TRUE(absl::IsFailedPrecondition(several.status()));
  EXPECT_THAT(Why(several),
              HasSubstr("on-demand N2 Instance Core of n2-standard-8 in us-east1 has several prices: set"));
  // Two on-demand prices of a part do not affect the spot price, and a price that is listed twice counts as one.
  EXPECT_TRUE(Price(machine, true, With(Sku("N2 Instance Core running in Virginia", 0.0317))).ok());
  EXPECT_TRUE(Price(machine, false, With(Sku("N2 Instance Core running in Virginia", 0.031612))).ok());
  const std::vector<json> both = {Sku("Compute optimized Core running in Americas", 0.03),
                                  Sku("Compute optimized Instance Core running in Dallas", 0.04),
                                  Sku("Compute optimized Ram running in Americas", 0.01)};
  EXPECT_THAT(Why(Price(Machine("c2-standard-4", 4, 16384), false, both)),
              HasSubstr("Core of c2-standard-4 in us-east1 has"));
}

TEST(GcpSkus, WhatIsNoPriceIsNotBelieved) {
  const json machine = Machine("n2-standard-8", 8, 32768);
  const json good = Sku("N2 Instance Core running in Americas", 0.031612);
  const json::json_pointer expression("/pricingInfo/0/pricingExpression");
  const json::json_pointer rate = expression / "tieredRates" / 0;
  const std::vector<std::pair<json::json_pointer, json>> bad = {
      {json::json_pointer("/pricingInfo"), json::array()},
      {json::json_pointer("/pricingInfo"), 7},
      {json::json_pointer("/pricingInfo/0"), nullptr},
      {expression / "usageUnit", "GiBy.h"},
      {expression / "usageUnit", "mo"},
      {expression / "usageUnit", nullptr},
      {expression / "tieredRates", json::array()},
      {rate / "startUsageAmount", 1},
      {rate / "startUsageAmount", "0"},
      {rate / "unitPrice", nullptr},
      {rate / "unitPrice" / "currencyCode", "EUR"},
      {rate / "unitPrice" / "units", 0},
      {rate / "unitPrice" / "units", "-1"},
      {rate / "unitPrice" / "units", "9000000000000000000"},
      {rate / "unitPrice" / "units", "0.03"},
      {rate / "unitPrice" / "nanos", -31612000},
      {rate / "unitPrice" / "nanos", 1'000'000'000},
      {rate / "unitPrice" / "nanos", "31612000"},
      {rate / "unitPrice" / "nanos", 0},
  };
  for (const auto& [where, value] : bad) {
    json sku = good;
    sku[where] = value;
    const auto price = Price(machine, false, With(sku, true));
    EXPECT_TRUE(absl::IsFailedPrecondition(price.status())) << where << " " << value << price.status();
    EXPECT_THAT(Why(price), HasSubstr("has not one price of an hour in USD")) << where;
    // Where two lines price the same part and one of them is wrong, the good line is not used either.
    EXPECT_FALSE(Price(machine, false, With(sku)).ok()) << where;
  }
  json tiers = good;
  tiers[expression / "tieredRates"].push_back(tiers[rate]);
  EXPECT_THAT(Why(Price(machine, false, With(tiers, true))), HasSubstr("has not one price"));
  EXPECT_THAT(Why(Price(machine, false, Skus(), "EUR")), HasSubstr("has not one price of an hour in EUR"));
}

TEST(GcpSkus, TheNewestPriceCountsAndWhatIsZeroMayBeMissing) {
  json sku = Sku("N2 Instance Core running in Americas", 7);
  sku["pricingInfo"].push_back(Sku("", 2)["pricingInfo"][0]);
  sku.at(json::json_pointer("/pricingInfo/1/pricingExpression/tieredRates/0")).erase("startUsageAmount");
  sku.at(json::json_pointer("/pricingInfo/1/pricingExpression/tieredRates/0/unitPrice")).erase("nanos");
  EXPECT_NEAR(Price(Machine("n2-standard-8", 8, 32768), false, With(sku, true)).value_or(0), 16 + 32 * 0.004238, 1e-9);
}

TEST(GcpSkus, PagesThatAreNoneAreRefusedAndStrangeLinesLeftOut) {
  GcpRates rates;
  for (const json& page : {json::array(), json(1), json{{"skus", 7}}, json{{"skus", {{"a", 1}}}}}) {
    EXPECT_FALSE(TakeGcpSkus(page, "USD", {"us-east1"}, rates).ok()) << page;
  }
  EXPECT_TRUE(TakeGcpSkus(json::object(), "USD", {"us-east1"}, rates).ok());
  const json odd = json::array(
      {1,
       nullptr,
       json::array(),
       {{"description", 7}},
       {{"description", " running in "}},
       Sku("N2 Instance Core running in Americas", 1, {{"serviceRegions", "us-east1"}}),
       Sku("N2 Instance Core running in Americas", 1, {{"serviceRegions", {1, {{"a", 1}}}}}),
       Sku("N2 Instance Core running in Americas", 1, {{"category", 7}}),
       Sku("Spot Preemptible N2 Instance Core running in Americas", 1, {{"category", {{"usageType", "OnDemand"}}}}),
       Sku("N2 Instance Core running in Americas", 1, {{"category", {{"usageType", "Preemptible"}}}})});
  EXPECT_TRUE(TakeGcpSkus({{"skus", odd}}, "USD", {"us-east1"}, rates).ok());
  EXPECT_TRUE(rates.empty());
}

}  // namespace
}  // namespace rekindle::fleet
