#include "coordinator/web/views/job_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "coordinator/market/cost_text.h"
#include "coordinator/server/boards/job_board.h"
#include "coordinator/web/parts/json.h"

namespace rekindle::coordinator::web {
namespace {

double Progress(const v1::Job& job) {
  const int steps = job.status().resolved_spec().training().steps();
  return steps > 0 ? static_cast<double>(job.status().step()) / steps : 0;
}

const std::string& TeamOf(const v1::Job& job) { return job.status().resolved_spec().team(); }

// Returns the numbers of a job by which jobs can be sorted. Jobs with the same number are sorted by their submission.
using Number = double (*)(const v1::Job&);
const std::map<std::string, Number>& Numbers() {
  static const std::map<std::string, Number> numbers = {
      {"submitted", [](const v1::Job& job) { return job.status().submitted_at(); }},
      {"priority", [](const v1::Job& job) { return static_cast<double>(job.status().resolved_spec().priority()); }},
      {"progress", Progress},
      {"loss", [](const v1::Job& job) { return job.status().loss(); }},
      {"speed", [](const v1::Job& job) { return job.status().tokens_per_second(); }},
      {"spent", [](const v1::Job& job) { return job.status().cost().spent(); }},
      {"rate", [](const v1::Job& job) { return job.status().cost().rate(); }}};
  return numbers;
}

using Less = std::function<bool(const v1::Job&, const v1::Job&)>;

Less LessBy(const std::string& sort) {
  const auto tie = [](const v1::Job& a, const v1::Job& b) {
    const double at = a.status().submitted_at(), bt = b.status().submitted_at();
    return at != bt ? at < bt : a.uid() < b.uid();
  };
  if (const auto number = Numbers().find(sort); number != Numbers().end()) {
    return [of = number->second, tie](const v1::Job& a, const v1::Job& b) {
      const double av = of(a), bv = of(b);
      // A job whose number is NaN comes last. If NaN were equal to everything, the comparison would not be an order.
      const bool an = !std::isnan(av), bn = !std::isnan(bv);
      if (an != bn) return an;
      return an && av != bv ? av < bv : tie(a, b);
    };
  }
  if (sort == "state") {
    return [tie](const v1::Job& a, const v1::Job& b) {
      const v1::JobState as = a.status().state(), bs = b.status().state();
      return as != bs ? as < bs : tie(a, b);
    };
  }
  const bool by_team = sort == "team";
  return [by_team, tie](const v1::Job& a, const v1::Job& b) {
    const int compared = by_team ? TeamOf(a).compare(TeamOf(b)) : a.name().compare(b.name());
    return compared != 0 ? compared < 0 : tie(a, b);
  };
}

bool Matches(const v1::Job& job, const ListQuery& query) {
  const v1::JobState state = job.status().state();
  if (query.state == "active" ? IsOver(job) : !query.state.empty() && v1::JobState_Name(state) != query.state) {
    return false;
  }
  if (!query.team.empty() && TeamOf(job) != query.team) return false;
  return query.text.empty() || absl::StrContains(absl::AsciiStrToLower(job.name()), query.text) ||
         absl::StartsWith(job.uid(), query.text);
}

// Returns what a line of the list shows of a job.
v1::Job LineOf(const v1::Job& job) {
  v1::Job line;
  line.set_name(job.name());
  line.set_uid(job.uid());
  const v1::JobStatus& from = job.status();
  v1::JobStatus& to = *line.mutable_status();
  to.set_state(from.state());
  to.set_reason(from.reason());
  to.set_generation(from.generation());
  to.set_step(from.step());
  to.set_loss(from.loss());
  to.set_validation_loss(from.validation_loss());
  to.set_tokens_per_second(from.tokens_per_second());
  to.set_step_seconds(from.step_seconds());
  to.set_submitted_at(from.submitted_at());
  to.set_finished_at(from.finished_at());
  to.set_interruptions(from.interruptions());
  v1::JobSpec& spec = *to.mutable_resolved_spec();
  spec.set_team(TeamOf(job));
  spec.set_priority(from.resolved_spec().priority());
  spec.mutable_training()->set_steps(from.resolved_spec().training().steps());
  spec.mutable_workers()->set_max(from.resolved_spec().workers().max());
  v1::Cost& cost = *to.mutable_cost();
  cost.set_spent(from.cost().spent());
  cost.set_rate(from.cost().rate());
  cost.set_budget(from.cost().budget());
  cost.set_currency(from.cost().currency());
  return line;
}

}  // namespace

const std::vector<std::string>& JobSorts() {
  static const std::vector<std::string> sorts = {"submitted", "name", "state", "team",  "priority",
                                                 "progress",  "loss", "speed", "spent", "rate"};
  return sorts;
}

std::string JobListJson(const std::vector<JobPointer>& jobs, const ListQuery& query) {
  std::vector<const v1::Job*> matching;
  for (const JobPointer& job : jobs) {
    if (Matches(*job, query)) matching.push_back(job.get());
  }
  std::string json = absl::StrCat("{\"matching\":", matching.size(), ",\"all\":", jobs.size(), ",\"jobs\":[");
  const char* between = "";
  const auto less = [by = LessBy(query.sort)](const v1::Job* a, const v1::Job* b) { return by(*a, *b); };
  for (const v1::Job* job : PageOf(std::move(matching), query, less)) {
    absl::StrAppend(&json, between, "{\"members\":", job->status().members_size(), ",\"job\":", ToJson(LineOf(*job)),
                    "}");
    between = ",";
  }
  return json + "]}";
}

JobTotals TotalsOf(const std::vector<JobPointer>& jobs) {
  JobTotals totals;
  absl::flat_hash_map<v1::JobState, int> states;
  absl::flat_hash_set<absl::string_view> teams;
  for (const JobPointer& job : jobs) {
    ++states[job->status().state()];
    totals.rate += job->status().cost().rate();
    if (totals.currency.empty()) totals.currency = job->status().cost().currency();
    const std::string& team = TeamOf(*job);
    if (!team.empty() && teams.size() < kMostTeams) teams.insert(team);
  }
  for (const auto& [state, number] : states) totals.states[v1::JobState_Name(state)] = number;
  for (const absl::string_view team : teams) totals.teams.emplace_back(team);
  std::sort(totals.teams.begin(), totals.teams.end());
  return totals;
}

std::string TeamsJson(const std::vector<JobPointer>& jobs) {
  struct Team {
    absl::string_view name;
    int jobs = 0;
    int active = 0;
    CostTotal total;
  };
  absl::flat_hash_map<absl::string_view, Team> teams;
  for (const JobPointer& job : jobs) {
    Team& team = teams[TeamOf(*job)];
    team.name = TeamOf(*job);
    ++team.jobs;
    if (!IsOver(*job)) ++team.active;
    team.total.Add(*job);
  }
  std::vector<std::pair<v1::Cost, const Team*>> dearest;
  for (const auto& [name, team] : teams) dearest.emplace_back(team.total.Sum(), &team);
  std::sort(dearest.begin(), dearest.end(), [](const auto& a, const auto& b) {
    return a.first.spent() != b.first.spent() ? a.first.spent() > b.first.spent() : a.second->name < b.second->name;
  });
  std::string json = absl::StrCat("{\"all\":", dearest.size(), ",\"teams\":[");
  const char* between = "";
  for (size_t i = 0; i < std::min(dearest.size(), kMostTeams); ++i) {
    const auto& [total, team] = dearest[i];
    absl::StrAppend(&json, between, "{\"team\":", Dump(team->name), ",\"jobs\":", team->jobs,
                    ",\"active\":", team->active, ",\"total\":", ToJson(total), "}");
    between = ",";
  }
  return json + "]}";
}

}  // namespace rekindle::coordinator::web
