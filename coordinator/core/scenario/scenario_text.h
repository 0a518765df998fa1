// Reads the commands of scenarios, and describes memberships, directives and money as text. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_TEXT_H_
#define REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_TEXT_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/market/carbon.h"
#include "coordinator/market/pool_orders.h"
#include "coordinator/market/prices.h"
#include "rekindle/v1/cost.pb.h"
#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/store.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// ScenarioOptions are the KEY=VALUE words of a command.
using ScenarioOptions = std::map<std::string, std::string>;
std::string DescribeNeverRegistered(const v1::PoolRecord& pool);
PoolReported ToPoolReport(const std::string& pool, const ScenarioOptions& options);
std::string DescribeOrder(const PoolOrder& order);

// Sets in the spec a job's goals, and what is known of the job's speed and start.
void SetGoals(const ScenarioOptions& options, v1::JobSpec* spec);

std::string Get(const ScenarioOptions& options, const std::string& key, const std::string& other);
// ToInt and ToDouble return 0 where the text is no number.
int ToInt(const std::string& text);
double ToDouble(const std::string& text);

std::vector<std::string> DescribeMembership(const v1::Membership& membership);
std::string DescribeDirective(const v1::TrainerDirective& directive);
std::string DescribeDirective(const v1::NodeDirective& directive);

// Reads the prices of pools from a command's options
// POOL=CAPACITY:PRICE[/PRICE@FROM...][:ON_DEMAND[:MAX[:CARBON_REGION[:WATTS[:OFFER[:DEVICE[:SPEED]]]]]]] and
// stale_after=SECONDS.
PriceBook ToPrices(const ScenarioOptions& options);
// Reads the carbon intensity of regions from a command's options REGION=FIRST_HOUR:INTENSITY[*HOURS],..., until=SECONDS
// and stale_after=SECONDS.
CarbonBook ToCarbon(const ScenarioOptions& options);
std::vector<std::string> DescribeCost(const v1::Cost& cost);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_TEXT_H_
