// What the costs of a job say, in words: of `rekindle cost` and `savings`, and of the web page.
#ifndef REKINDLE_COORDINATOR_MONEY_H_
#define REKINDLE_COORDINATOR_MONEY_H_

#include <string>
#include <vector>

#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/cost.pb.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// "12.34 USD", in the currency of `cost`.
std::string Money(double amount, const v1::Cost& cost);

// "201.70 USD (196.20 USD to 207.20 USD)", or "-" where it is not known.
std::string ForecastRange(const v1::Cost& cost);
std::string DescribeForecast(const v1::Job& job);
std::string DescribeBudget(const v1::Cost& cost);
std::string DescribeOnDemand(const v1::Cost& cost);
// "0.443 kg CO2", and of how many node-hours it is not known.
std::string KgCo2(double kilograms);
std::string DescribeCarbon(const v1::Cost& cost);
// "0.19 USD in 0.250 node-hours of 1.00 machines".
std::string DescribeNeverRegistered(const v1::NeverRegistered& sum, const std::string& currency);

// Sums up the jobs of a team: amounts, rates, node-hours, and forecasts, in which a job that is over counts as spent.
// No forecast where that of a job is not known.
v1::Cost TotalOf(const v1::ListJobsReply& jobs);

// Sums up costs, one job after the other.
class CostTotal {
 public:
  void Add(const v1::Job& job);
  v1::Cost Sum() const;

 private:
  v1::Cost sum_;
  bool forecast_known_ = true;
};

// One line of `rekindle savings`.
struct Saving {
  std::string by;
  double amount = 0;
  double kg_co2 = 0;
  std::string how;  // Where nothing was saved: why.
};
std::vector<Saving> SavingsOf(const v1::Job& job);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_MONEY_H_
