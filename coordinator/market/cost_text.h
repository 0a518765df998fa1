// This file puts the costs of a job into words, for `rekindle cost`, for `rekindle savings` and for the web page.
#ifndef REKINDLE_COORDINATOR_MARKET_COST_TEXT_H_
#define REKINDLE_COORDINATOR_MARKET_COST_TEXT_H_

#include <string>
#include <vector>

#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/cost.pb.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Returns a text such as "12.34 USD", in the currency of `cost`.
std::string Money(double amount, const v1::Cost& cost);

// Returns a text such as "201.70 USD (196.20 USD to 207.20 USD)", or "-" where the forecast is not known.
std::string ForecastRange(const v1::Cost& cost);
std::string DescribeForecast(const v1::Job& job);
std::string DescribeBudget(const v1::Cost& cost);
std::string DescribeOnDemand(const v1::Cost& cost);
// Returns a text such as "0.443 kg CO2".
std::string KgCo2(double kilograms);
// Returns a text that says how much CO2 the job has emitted, and for how many node-hours that is not known.
std::string DescribeCarbon(const v1::Cost& cost);
// Returns the cost of machines that never registered, such as "0.19 USD in 0.250 node-hours of 1.00 machines".
std::string DescribeNeverRegistered(const v1::NeverRegistered& sum, const std::string& currency);

// Sums up the costs of a team's jobs: amounts, costs an hour, node-hours and forecasts. A job that is over counts in
// the forecast with what it spent. If the forecast of any job is not known, the sum has no forecast.
v1::Cost TotalOf(const v1::ListJobsReply& jobs);

// A CostTotal sums up costs, one job after the other.
class CostTotal {
 public:
  void Add(const v1::Job& job);
  v1::Cost Sum() const;

 private:
  v1::Cost sum_;
  bool forecast_known_ = true;
};

// A Saving is one line of `rekindle savings`.
struct Saving {
  std::string by;
  double amount = 0;
  double kg_co2 = 0;
  // `how` says how the amount came about, or why nothing was saved.
  std::string how;
};
std::vector<Saving> SavingsOf(const v1::Job& job);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_MARKET_COST_TEXT_H_
