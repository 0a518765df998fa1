#include "coordinator/core/levers.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr int kMaxLevers = 32;
constexpr size_t kMaxName = 64;

// An event's kind, and a label of metrics later: from a small alphabet.
bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxName &&
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

bool IsMeant(const v1::LeverStatus& lever) {
  const auto finite = [](double value) { return std::isfinite(value) && value >= 0; };
  return IsName(lever.lever()) && lever.step() >= 0 && !lever.text().empty() && finite(lever.steps_saved()) &&
         finite(lever.seconds_saved()) && finite(lever.bytes_saved());
}

}  // namespace

void TakeLevers(Turn& turn, Job& job, const v1::TrainerReport& report) {
  auto* levers = job.record.mutable_job()->mutable_status()->mutable_levers();
  for (const v1::LeverStatus& told : report.levers()) {
    if (!IsMeant(told)) continue;
    auto at = std::find_if(levers->begin(), levers->end(), [&](const auto& l) { return l.lever() >= told.lever(); });
    const bool known = at != levers->end() && at->lever() == told.lever();
    if (known ? told.step() <= at->step() : levers->size() >= kMaxLevers) continue;
    if (!known) {
      const int index = static_cast<int>(at - levers->begin());
      levers->Add();
      for (int i = levers->size() - 1; i > index; --i) levers->SwapElements(i, i - 1);
      at = levers->begin() + index;
    }
    *at = told;
    at->set_text(Bounded(told.text()));
    turn.Emit(&job, told.lever(), at->text(), report.node());
    job.must_save = true;  // So that a restarted coordinator does not tell it again.
  }
}

}  // namespace rekindle::core
