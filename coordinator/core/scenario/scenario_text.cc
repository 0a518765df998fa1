#include "coordinator/core/scenario/scenario_text.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

PriceHistory ToHistory(const std::string& text) {
  PriceHistory history;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, '/'))) {
    const std::vector<std::string> words = absl::StrSplit(part, '@');
    history.push_back({words.size() > 1 ? ToDouble(words[1]) : 0, ToDouble(words[0])});
  }
  return history;
}

}  // namespace

std::string Get(const ScenarioOptions& options, const std::string& key, const std::string& other) {
  const auto it = options.find(key);
  return it == options.end() ? other : it->second;
}

int ToInt(const std::string& text) {
  int value = 0;
  return absl::SimpleAtoi(text, &value) ? value : 0;
}

double ToDouble(const std::string& text) {
  double value = 0;
  return absl::SimpleAtod(text, &value) ? value : 0;
}

void SetGoals(const ScenarioOptions& options, v1::JobSpec* spec) {
  spec->set_priority(ToInt(Get(options, "priority", "0")));
  spec->set_team(Get(options, "team", ""));
  v1::JobSpec::Goals* goals = spec->mutable_goals();
  goals->set_budget(ToDouble(Get(options, "budget", "0")));
  goals->set_deadline_hours(ToDouble(Get(options, "deadline", "0")));
  goals->set_objective(Get(options, "objective", ""));
  goals->set_capacity(Get(options, "capacity", ""));
  for (const std::string& window :
       std::vector<std::string>(absl::StrSplit(Get(options, "off_peak", ""), ',', absl::SkipEmpty()))) {
    const std::vector<std::string> ends = absl::StrSplit(window, '-');
    v1::JobSpec::Window* out = goals->add_off_peak();
    out->set_from(ends[0]);
    out->set_until(ends.back());
  }
  spec->mutable_estimate()->set_step_seconds(ToDouble(Get(options, "step_seconds", "0")));
  if (options.count("start_seconds"))
    spec->mutable_estimate()->set_start_seconds(ToDouble(options.at("start_seconds")));
}

std::vector<std::string> DescribeMembership(const v1::Membership& m) {
  std::string source = "the initial state";
  if (m.source().has_rank()) source = absl::StrCat("rank ", m.source().rank());
  if (m.source().has_checkpoint()) source = absl::StrCat("checkpoint ", m.source().checkpoint());
  std::vector<std::string> lines = {absl::StrCat("generation ", m.generation(), " at step ", m.step(),
                                                 m.attempt() > 0 ? absl::StrCat(" attempt ", m.attempt()) : "",
                                                 m.interrupted() ? ", interrupted" : "", ", state from ", source,
                                                 m.finishing() ? ", to save it" : "",
                                                 m.final_store().empty() ? "" : absl::StrCat(" to ", m.final_store()))};
  for (const v1::Member& member : m.members()) {
    std::string line =
        absl::StrCat("  rank ", member.rank(), " ", member.trainer(), " [", member.begin(), ",", member.end(), ")");
    if (m.interrupted()) {
      absl::StrAppend(&line, " holds {", absl::StrJoin(member.holds(), " "), "} adds {",
                      absl::StrJoin(member.adds(), " "), "}");
    }
    if (member.needs_state()) absl::StrAppend(&line, " needs state");
    lines.push_back(line);
  }
  std::string shards;
  for (const v1::ShardHolders& shard : m.shards()) absl::StrAppend(&shards, " ", shard.first(), "+", shard.second());
  if (!shards.empty()) lines.push_back(absl::StrCat("  shards held by", shards));
  if (m.transport() == v1::TRANSPORT_NCCL) lines.push_back("  exchanges by NCCL");
  return lines;
}

std::string DescribeDirective(const v1::TrainerDirective& directive) {
  if (directive.tell_membership()) return "tell which membership it is in";
  std::string line = v1::TrainerDirective::Action_Name(directive.action());
  if (directive.has_membership() && directive.action() != v1::TrainerDirective::WAIT) {
    absl::StrAppend(&line, " generation ", directive.membership().generation());
  }
  if (directive.checkpoint()) absl::StrAppend(&line, " with a checkpoint");
  if (!directive.find_checkpoint().empty()) {
    absl::StrAppend(&line, directive.verify_checkpoint() ? " find and verify " : " find ", directive.find_checkpoint());
  }
  // The numbers of looks begin anew with each epoch.
  constexpr int64_t kLooksOfAnEpoch = 1 << 20;
  if (directive.look() > 0) absl::StrAppend(&line, " look ", directive.look() % kLooksOfAnEpoch);
  if (directive.checkpoint_within_seconds() > 0) {
    absl::StrAppend(&line, " within ", directive.checkpoint_within_seconds(), " s");
  }
  if (directive.action() != v1::TrainerDirective::RUN) absl::StrAppend(&line, " (", directive.reason(), ")");
  if (!directive.error().empty()) absl::StrAppend(&line, " error: ", directive.error());
  return line;
}

std::string DescribeDirective(const v1::NodeDirective& directive) {
  if (directive.revision() == 0) return "nothing new";
  if (!directive.name_in_use().empty()) return absl::StrCat("wait: ", directive.name_in_use());
  std::vector<std::string> words;
  for (const v1::DesiredTrainer& trainer : directive.trainers()) {
    words.push_back(absl::StrCat(trainer.job_name(), " on slot ", trainer.slot()));
    if (trainer.micro_batch_at_most() > 0) {
      absl::StrAppend(&words.back(), ", to find a micro-batch of at most ", trainer.micro_batch_at_most());
    }
  }
  std::string line = words.empty() ? "nothing to run" : absl::StrCat("run ", JoinWords(words));
  for (const v1::SoughtTrainer& sought : directive.look_for()) {
    absl::StrAppend(&line, ", look for ", sought.trainer());
  }
  for (const std::string& uid : directive.leave_alone()) absl::StrAppend(&line, ", leave ", uid, " alone");
  if (directive.drained()) absl::StrAppend(&line, ", drained");
  if (!directive.error().empty()) absl::StrAppend(&line, " error: ", directive.error());
  return line;
}

PoolReported ToPoolReport(const std::string& pool, const ScenarioOptions& options) {
  const std::string trouble = Get(options, "trouble", "");
  PoolReported report{.pool = pool, .running = ToInt(Get(options, "running", "0"))};
  if (trouble == "no_capacity") report.trouble = PoolTrouble::kNoCapacity;
  if (trouble == "throttled") report.trouble = PoolTrouble::kThrottled;
  if (trouble == "failed") report.trouble = PoolTrouble::kFailed;
  report.error = Get(options, "error", "");
  report.retry_after = ToDouble(Get(options, "retry_after", "0"));
  report.ended = absl::StrSplit(Get(options, "ended", ""), ',', absl::SkipEmpty());
  report.not_ours = options.count("not_ours") > 0;
  report.listed = options.count("unlisted") == 0;
  for (const std::string& machine :
       std::vector<std::string>(absl::StrSplit(Get(options, "machines", ""), ',', absl::SkipEmpty()))) {
    const std::vector<std::string> words = absl::StrSplit(machine, '@');
    const std::vector<std::string> names = absl::StrSplit(words[0], ':');
    report.machines.push_back({.id = names[0],
                               .node = names.back(),
                               .running = words.back() != "starting",
                               .since = words.size() > 1 ? ToDouble(words[1]) : 0});
  }
  if (options.count("machines") > 0) report.running = static_cast<int>(report.machines.size());
  return report;
}

std::string DescribeNeverRegistered(const v1::PoolRecord& pool) {
  const v1::NeverRegistered& all = pool.never_registered();
  const v1::NeverRegistered& rest = pool.of_no_job();
  return absl::StrFormat("pool %s: %.2f machines never registered, %.4f node-hours, spent %.4f; for no job %.2f, %.4f",
                         pool.name(), all.machines(), all.node_hours(), all.spent(), rest.machines(), rest.spent());
}

std::string DescribeOrder(const PoolOrder& order) {
  return absl::StrCat("order ", order.pool, ": ", order.nodes, order.nodes == 1 ? " node" : " nodes",
                      order.surplus == Surplus::kStays ? " at least" : "",
                      order.end.empty() ? "" : absl::StrCat(", end ", JoinWords(order.end)),
                      order.release.empty() ? "" : absl::StrCat(", without ", JoinWords(order.release)),
                      order.look_for.empty() ? "" : absl::StrCat(", look for ", JoinWords(order.look_for)));
}

PriceBook ToPrices(const ScenarioOptions& options) {
  PriceBook book;
  book.currency = "USD";
  for (const auto& [name, value] : options) {
    if (name == "stale_after") {
      book.stale_after = ToDouble(value);
      continue;
    }
    const std::vector<std::string> words = absl::StrSplit(value, ':');
    if (absl::StartsWith(name, "team:")) {
      book.teams[name.substr(5)] = {ToDouble(words[0]), words.size() > 1 ? ToInt(words[1]) : 0};
      continue;
    }
    PoolPrices& pool = book.pools[name];
    pool.capacity = words[0];
    if (words.size() > 1) pool.price = ToHistory(words[1]);
    if (words.size() > 2) pool.on_demand = ToHistory(words[2]);
    if (words.size() > 3) pool.ordered = true;
    if (words.size() > 3) pool.max = ToInt(words[3]);
    if (words.size() > 4) pool.carbon_region = words[4];
    if (words.size() > 5 && !words[5].empty()) pool.node_watts = ToDouble(words[5]);
    if (words.size() > 6 && !words[6].empty()) {
      pool.offer = words[6];
      pool.stale_after = 3600;
    }
    if (words.size() > 7) pool.device = words[7];
    if (words.size() > 8) pool.speed = ToDouble(words[8]);
    book.speeds_stated = book.speeds_stated || pool.speed != 1;
  }
  return book;
}

CarbonBook ToCarbon(const ScenarioOptions& options) {
  CarbonBook book{.given = true, .asked = Get(options, "asked", "yes") == "yes"};
  for (const auto& [name, value] : options) {
    if (name == "until" || name == "asked") continue;
    if (name == "stale_after") {
      book.stale_after = ToDouble(value);
      continue;
    }
    const std::vector<std::string> words = absl::StrSplit(value, ':');
    CarbonSeries& series = book.regions[name];
    series.first = ToInt(words[0]);
    for (const std::string& spell : std::vector<std::string>(absl::StrSplit(words.back(), ','))) {
      const std::vector<std::string> parts = absl::StrSplit(spell, '*');
      series.intensity.insert(series.intensity.end(), parts.size() > 1 ? ToInt(parts[1]) : 1, ToDouble(parts[0]));
    }
    const double end = static_cast<double>(series.first) + static_cast<double>(series.intensity.size());
    series.known_until = options.count("until") ? ToDouble(options.at("until")) : end * kHour;
  }
  return book;
}

std::vector<std::string> DescribeCost(const v1::Cost& cost) {
  std::string total = absl::StrFormat("spent %.2f, on demand %.2f, rate %.2f, %.2f node-hours in %.2f h", cost.spent(),
                                      cost.on_demand(), cost.rate(), cost.node_hours(), cost.hours());
  if (cost.unpriced_node_hours() > 0) absl::StrAppendFormat(&total, ", unpriced %.2f", cost.unpriced_node_hours());
  if (cost.unheard() > 0) absl::StrAppendFormat(&total, ", unheard %.2f", cost.unheard());
  if (cost.budget() > 0) absl::StrAppendFormat(&total, ", budget %.2f", cost.budget());
  if (cost.forecast() > 0) {
    absl::StrAppendFormat(&total, ", forecast %.2f (%.2f to %.2f)", cost.forecast(), cost.forecast_low(),
                          cost.forecast_high());
  }
  if (cost.rework_steps_saved() > 0) {
    absl::StrAppendFormat(&total, ", %g steps not redone for %.4f", cost.rework_steps_saved(), cost.rework_saved());
  }
  if (cost.fewer_node_hours() > 0) {
    absl::StrAppendFormat(&total, ", steps with %d workers %.2f on %.2f, with fewer %.2f on %.2f", cost.most_workers(),
                          cost.most_spent(), cost.most_node_hours(), cost.fewer_spent(), cost.fewer_node_hours());
  }
  if (cost.carbon_node_hours() > 0) {
    absl::StrAppendFormat(&total, ", %.3f kg CO2 in %.2f node-hours", cost.kg_co2(), cost.carbon_node_hours());
  }
  if (cost.never_registered().machines() > 0) {
    absl::StrAppendFormat(&total, ", %.2f machines never registered, %.4f node-hours for %.4f",
                          cost.never_registered().machines(), cost.never_registered().node_hours(),
                          cost.never_registered().spent());
  }
  if (cost.estimated() > 0) absl::StrAppendFormat(&total, ", %.2f estimated", cost.estimated());
  std::vector<std::string> lines = {total};
  for (const v1::PoolCost& line : cost.pools()) {
    lines.push_back(absl::StrFormat("  %s %s: %g nodes at %.2f%s, %.2f node-hours, spent %.2f, on demand %.2f",
                                    line.pool().empty() ? "(none)" : line.pool(), line.capacity(), line.nodes(),
                                    line.price(), line.stale() ? " (stale)" : "", line.node_hours(), line.spent(),
                                    line.on_demand()));
  }
  return lines;
}

}  // namespace rekindle::core
