#include "coordinator/web/views/job_view.h"

#include "absl/strings/str_cat.h"
#include "coordinator/market/cost_text.h"
#include "coordinator/web/parts/json.h"

namespace rekindle::coordinator::web {

std::string JobViewJson(const v1::Job& job, const std::vector<SpeedBook::Sample>& speed) {
  const v1::Cost& cost = job.status().cost();
  const nlohmann::json says = {{"spent", Money(cost.spent(), cost)},  {"rate", Money(cost.rate(), cost)},
                               {"forecast", DescribeForecast(job)},   {"budget", DescribeBudget(cost)},
                               {"on_demand", DescribeOnDemand(cost)}, {"carbon", DescribeCarbon(cost)}};
  nlohmann::json savings = nlohmann::json::array();
  for (const Saving& saving : SavingsOf(job)) {
    const bool is_carbon = saving.kg_co2 != 0;
    savings.push_back({{"by", saving.by},
                       {"amount", is_carbon ? KgCo2(saving.kg_co2) : Money(saving.amount, cost)},
                       {"how", saving.how}});
  }
  nlohmann::json samples = nlohmann::json::array();
  for (const SpeedBook::Sample& sample : speed) {
    samples.push_back({sample.at, sample.step, sample.tokens_per_second, sample.step_seconds});
  }
  return absl::StrCat("{\"job\":", ToJson(job), ",\"says\":", Dump(says), ",\"savings\":", Dump(savings),
                      ",\"speed\":", Dump(samples), "}");
}

std::string EventsJson(const std::vector<v1::Event>& events, int after) {
  std::string json = "{\"events\":[";
  const char* between = "";
  for (const v1::Event& event : events) {
    absl::StrAppend(&json, between, ToJson(event));
    between = ",";
  }
  return absl::StrCat(json, "],\"last\":", events.empty() ? after : events.back().revision(), "}");
}

}  // namespace rekindle::coordinator::web
