#include "coordinator/core/choices/trainer_notes.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/agreed/amounts.h"
#include "coordinator/core/state/flapping.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr char kRanges[] = "ranges";
constexpr int kMaxLevers = 32;
constexpr int kSmokeSteps = 2;
constexpr size_t kMaxName = 64;

// The name of a cost lever becomes an event's kind, and later a label of metrics. So only lowercase letters and
// underscores are allowed.
bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxName &&
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

bool IsMeant(const v1::LeverStatus& lever) {
  return IsName(lever.lever()) && lever.step() >= 0 && !lever.text().empty() && common::IsAmount(lever.steps_saved()) &&
         common::IsAmount(lever.seconds_saved()) && common::IsAmount(lever.bytes_saved());
}

// Returns whether the note `lever` is newer than the note of the same cost lever in the job's status. The members
// repeat their notes, and several members report the same note.
bool IsNews(const Job& job, const v1::LeverStatus& lever) {
  const auto& levers = job.record.job().status().levers();
  return std::none_of(levers.begin(), levers.end(),
                      [&](const auto& l) { return l.lever() == lever.lever() && l.step() >= lever.step(); });
}

}  // namespace

void RememberNote(Turn& turn, Job& job, const v1::LeverStatus& lever, const std::string& node) {
  auto* levers = job.record.mutable_job()->mutable_status()->mutable_levers();
  auto at = std::find_if(levers->begin(), levers->end(), [&](const auto& l) { return l.lever() >= lever.lever(); });
  const bool known = at != levers->end() && at->lever() == lever.lever();
  if (!known && levers->size() >= kMaxLevers) return;
  const int index = static_cast<int>(at - levers->begin());
  if (!known) {
    levers->Add();
    for (int i = levers->size() - 1; i > index; --i) levers->SwapElements(i, i - 1);
  }
  *levers->Mutable(index) = lever;
  const bool is_last = lever.step() >= SpecOf(job).training().steps();
  if (lever.lever() == kRanges && !is_last) {
    if (!TellRanges(turn, job, lever.text(), node)) return turn.Changed(job);
  } else {
    // Events about new ranges of micro-batches may be held back (flapping.h). After the last step the lever `ranges`
    // reports its total savings in a last note, so a held event is emitted before the event of that note.
    if (lever.lever() == kRanges) TellRangesNow(turn, job);
    turn.Emit(&job, lever.lever(), lever.text(), node);
  }
  // The note of the cost lever is saved, so that a restarted coordinator does not emit it as an event again.
  turn.Save(job);
}

void TakeNotes(Turn& turn, Job& job, const v1::TrainerReport& report) {
  for (const v1::LeverStatus& told : report.levers()) {
    if (!IsMeant(told) || told.lever() == kSmokeTest || !IsNews(job, told)) continue;
    v1::LeverStatus lever = told;
    lever.set_text(Bounded(told.text()));
    RememberNote(turn, job, lever, report.node());
  }
}

void TakeSmokeTest(Turn& turn, Job& job, const v1::TrainerReport& report) {
  const int step = job.record.job().status().step();
  if (!IsSmokeTest(job) || step < std::min(kSmokeSteps, SpecOf(job).training().steps())) return;
  v1::LeverStatus passed;
  passed.set_lever(kSmokeTest);
  passed.set_step(step);
  passed.set_text(absl::StrCat("the job has completed step ", step, " on one worker (", ShortName(report.trainer()),
                               "): the others may start"));
  job.record.mutable_decided()->set_smoke_test_passed(true);
  turn.Save(job);
  RememberNote(turn, job, passed, report.node());
}

}  // namespace rekindle::core
