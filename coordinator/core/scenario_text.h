// Test-only: how scenarios are read, and how they write down memberships, directives and money.
#ifndef REKINDLE_COORDINATOR_CORE_SCENARIO_TEXT_H_
#define REKINDLE_COORDINATOR_CORE_SCENARIO_TEXT_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/core/carbon.h"
#include "coordinator/core/pool_orders.h"
#include "coordinator/core/prices.h"
#include "rekindle/v1/cost.pb.h"
#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/store.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// KEY=VALUE of a command.
using ScenarioOptions = std::map<std::string, std::string>;
std::string DescribeNeverRegistered(const v1::PoolRecord& pool);
PoolReported ToPoolReport(const std::string& pool, const ScenarioOptions& options);
std::string DescribeOrder(const PoolOrder& order);

// What a job is to reach, and what is known of it.
void SetGoals(const ScenarioOptions& options, v1::JobSpec* spec);

std::string Get(const ScenarioOptions& options, const std::string& key, const std::string& other);
// 0 where it is no number.
int ToInt(const std::string& text);
double ToDouble(const std::string& text);

std::vector<std::string> DescribeMembership(const v1::Membership& membership);
std::string DescribeDirective(const v1::TrainerDirective& directive);
std::string DescribeDirective(const v1::NodeDirective& directive);

// POOL=CAPACITY:PRICE[/PRICE@FROM...][:ON_DEMAND[:MAX[:CARBON_REGION[:WATTS[:OFFER[:DEVICE[:SPEED]]]]]]],
// stale_after=SECONDS.
PriceBook ToPrices(const ScenarioOptions& options);
// REGION=FIRST_HOUR:INTENSITY[*HOURS],..., until=SECONDS, stale_after=SECONDS.
CarbonBook ToCarbon(const ScenarioOptions& options);
std::vector<std::string> DescribeCost(const v1::Cost& cost);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SCENARIO_TEXT_H_
