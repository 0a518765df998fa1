#include "cli/watch/progress_view.h"

#include <algorithm>

#include "cli/text/bar.h"
#include "cli/text/job_costs.h"
#include "cli/text/job_text.h"
#include "cli/text/number_text.h"
#include "cli/text/safe_text.h"
#include "cli/text/terminal_columns.h"
#include "cli/watch/loss_curve.h"

namespace rekindle::cli {
namespace {

constexpr int kLabelColumns = 12;
// A fact is a label and a value, and takes `kFactColumns` columns.
constexpr int kFactColumns = 39;
constexpr int kMostFactsALine = 4;
constexpr int kWidestBar = 100;
constexpr int kLowestCurve = 4;
constexpr int kHighestCurve = 8;
constexpr int kNarrowestCurve = 30;

struct Fact {
  const char* label;
  // `value` is the text of the fact's value. It is empty if the value is not known or if the job has none.
  std::string value;
};

std::string OneLine(const std::string& text) {
  std::string line = Printable(text);
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

int StepsOf(const v1::Job& job) { return job.status().resolved_spec().training().steps(); }

// Returns how many steps of a job are done, such as "82/200 (41 %)".
std::string Steps(int done, int steps) {
  const int percent = steps > 0 ? static_cast<int>(100.0 * done / steps) : 0;
  return std::to_string(done) + "/" + std::to_string(steps) + " (" + std::to_string(percent) + " %)";
}

std::string Elapsed(const Watched& watched) {
  const v1::JobStatus& s = watched.job.status();
  if (s.submitted_at() <= 0) return "";
  const bool over = Ended(s.state()) && s.finished_at() > 0;
  return DurationText((over ? s.finished_at() : watched.now) - s.submitted_at());
}

std::string Eta(const Watched& watched) {
  const v1::JobStatus& s = watched.job.status();
  if (s.state() != v1::RUNNING || s.step_seconds() <= 0) return "";
  const double left = (StepsOf(watched.job) - s.step()) * s.step_seconds();
  return DurationText(left - (watched.now - watched.heard_at));
}

std::string Validation(const v1::JobStatus& s) {
  if (s.validation_curve().empty() && s.validation_loss() == 0) return "";
  const std::string loss = Fixed(s.validation_loss(), 4);
  return s.validation_bits_per_byte() > 0 ? loss + ", " + Fixed(s.validation_bits_per_byte(), 4) + " bits/byte" : loss;
}

std::string Speed(const v1::JobStatus& s) {
  if (s.state() != v1::RUNNING || s.step() == 0) return "";
  return Short(s.tokens_per_second()) + " " + UnitOf(s.resolved_spec()) + "s/s";
}

// Returns the number of members of a job, such as "3 (4/4/4)". In brackets is how many micro-batches of a step each
// member computes, if that is short.
std::string Members(const v1::JobStatus& s) {
  constexpr int kMost = 8;
  std::string members = std::to_string(s.members_size());
  if (s.members_size() < 2 || s.members_size() > kMost) return members;
  for (int i = 0; i < s.members_size(); ++i) {
    const v1::MemberStatus& m = s.members(i);
    members += (i == 0 ? " (" : "/") + std::to_string(m.micro_batch_end() - m.micro_batch_begin());
  }
  return members + ")";
}

std::string Interruptions(const v1::JobStatus& s) {
  return std::to_string(s.interruptions()) + (s.interruptions() == 1 ? " time, " : " times, ") +
         std::to_string(s.steps_redone()) + (s.steps_redone() == 1 ? " step redone" : " steps redone");
}

std::string Checkpoint(const Watched& watched) {
  const v1::JobStatus& s = watched.job.status();
  if (s.checkpoint_step() < 0) return "";
  const std::string step = "step " + std::to_string(s.checkpoint_step());
  if (s.checkpoint_at() > 0) return step + ", " + DurationText(std::max(0.0, watched.now - s.checkpoint_at())) + " old";
  const int behind = std::max(0, s.step() - s.checkpoint_step());
  return step + ", " + std::to_string(behind) + (behind == 1 ? " step ago" : " steps ago");
}

std::string Spent(const v1::Cost& cost) {
  if (cost.until() <= 0) return "";
  if (cost.unpriced_node_hours() <= 0) return Money(cost.spent(), cost);
  return cost.spent() > 0 ? Money(cost.spent(), cost) + " + unpriced nodes" : "its nodes have no price";
}

std::string Rate(const v1::Cost& cost) { return cost.rate() > 0 ? Money(cost.rate(), cost) + " an hour" : ""; }

std::string Budget(const v1::Cost& cost) {
  if (cost.budget() <= 0) return "";
  return Money(cost.budget(), cost) + ", " + Fixed(100 * cost.spent() / cost.budget(), 1) + " % spent";
}

std::vector<Fact> FactsOf(const Watched& watched) {
  const v1::JobStatus& s = watched.job.status();
  return {{"elapsed", Elapsed(watched)},
          {"ETA", Eta(watched)},
          {"loss", s.step() > 0 ? Fixed(s.loss(), 4) : ""},
          {"validation", Validation(s)},
          {"speed", Speed(s)},
          {"members", Members(s)},
          {"generation", std::to_string(s.generation())},
          {"interrupted", Interruptions(s)},
          {"checkpoint", Checkpoint(watched)},
          {"spent", OneLine(Spent(s.cost()))},
          {"rate", OneLine(Rate(s.cost()))},
          {"budget", OneLine(Budget(s.cost()))}};
}

// Returns what a member does beside its work, such as "n1/0 replacing the child: it was killed", and how many others do
// something, too. Returns an empty string where none does.
std::string MemberNotes(const v1::JobStatus& s) {
  std::string first;
  int others = 0;
  for (const v1::MemberStatus& m : s.members()) {
    if (m.note().empty()) continue;
    others += first.empty() ? 0 : 1;
    // The last part of a trainer's name is the number of its process, which nobody needs here.
    if (first.empty()) first = m.trainer().substr(0, m.trainer().rfind('/')) + " " + m.note();
  }
  if (others > 0) first += ", and " + std::to_string(others) + (others == 1 ? " other" : " others");
  return first;
}

std::string Head(const v1::Job& job, int columns) {
  const std::string state = StateName(job.status().state());
  return CutTo(OneLine(job.name()), columns - static_cast<int>(state.size()) - 2) + "  " + state;
}

std::string BarLine(const v1::Job& job, int columns) {
  const int steps = StepsOf(job);
  const int room = columns - 2 - static_cast<int>(Steps(steps, steps).size());
  return Bar(job.status().step(), steps, std::clamp(room, 1, kWidestBar)) + "  " + Steps(job.status().step(), steps);
}

void AddFacts(const std::vector<Fact>& facts, int columns, std::vector<std::string>* lines) {
  const int a_line = std::clamp(columns / kFactColumns, 1, kMostFactsALine);
  for (size_t i = 0; i < facts.size(); ++i) {
    if (i % static_cast<size_t>(a_line) == 0) lines->emplace_back();
    const std::string value = facts[i].value.empty() ? "-" : facts[i].value;
    const int room = columns / a_line - kLabelColumns;
    // At least one space separates two facts.
    lines->back() += PadTo(facts[i].label, kLabelColumns) + PadTo(CutTo(value, room - 1), room);
  }
}

// Adds sentences of the coordinator, wrapped over the `rows` lines that are available for them.
void AddText(const char* label, const std::string& text, int columns, size_t rows, std::vector<std::string>* lines) {
  const std::vector<std::string> wrapped = Wrap(text.empty() ? "-" : OneLine(text), columns - kLabelColumns, rows);
  for (size_t i = 0; i < wrapped.size(); ++i) {
    lines->push_back(PadTo(i == 0 ? label : "", kLabelColumns) + wrapped[i]);
  }
}

std::string Foot(const Watched& watched) {
  const v1::JobStatus& s = watched.job.status();
  if (watched.away_since) return DescribeAway(watched);
  if (!Ended(s.state())) return "Ctrl-C stops watching; the job goes on";
  return s.finished_at() > 0 ? "ended at " + TimeOfDay(s.finished_at()) : "";
}

// Makes all lines narrower than the terminal, because some terminals begin a new line after a character in the last
// column.
void Fit(int columns, std::vector<std::string>* lines) {
  for (std::string& line : *lines) {
    line = CutTo(line, columns);
    line.erase(line.find_last_not_of(' ') + 1);
  }
}

}  // namespace

std::string DescribeAway(const Watched& watched) {
  const double since = *watched.away_since;
  return "coordinator away since " + TimeOfDay(since) + ", " + DurationText(watched.now - since);
}

std::vector<std::string> ProgressLines(const Watched& watched, TerminalSize size) {
  const v1::JobStatus& s = watched.job.status();
  const int columns = std::max(1, size.columns - 1);
  const int rows = std::max(1, size.rows);
  std::vector<std::string> lines = {Head(watched.job, columns), BarLine(watched.job, columns)};
  AddFacts(FactsOf(watched), columns, &lines);
  const size_t narrow = columns < 2 * kFactColumns ? 1 : 0;
  const size_t wide = columns >= 3 * kFactColumns ? 1 : 0;
  // A reason that is the same as the last event is not shown twice.
  const std::string notes = MemberNotes(s);
  const std::string reason = s.reason() == s.last_event() ? "" : s.reason();
  AddText("reason", notes.empty() ? reason : notes, columns, 1 + narrow, &lines);
  AddText("last event", s.last_event(), columns, 2 + narrow - wide, &lines);
  const int room = std::min(kHighestCurve, rows - static_cast<int>(lines.size()) - 2);
  if (room >= kLowestCurve && columns >= kNarrowestCurve) {
    const std::vector<std::string> curve = LossCurve(s.loss_curve(), columns, room);
    lines.insert(lines.end(), curve.begin(), curve.end());
  }
  lines.resize(std::min(lines.size(), static_cast<size_t>(rows - 1)));
  lines.push_back(Foot(watched));
  Fit(columns, &lines);
  return lines;
}

std::string ProgressLine(const Watched& watched) {
  const v1::JobStatus& s = watched.job.status();
  std::string line =
      OneLine(watched.job.name()) + " " + StateName(s.state()) + "  step " + Steps(s.step(), StepsOf(watched.job));
  for (const Fact& fact : FactsOf(watched)) {
    if (!fact.value.empty()) line += std::string("  ") + fact.label + " " + fact.value;
  }
  if (const std::string notes = MemberNotes(s); !notes.empty()) line += "  " + OneLine(notes);
  return line;
}

}  // namespace rekindle::cli
