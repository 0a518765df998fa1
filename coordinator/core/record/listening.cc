#include "coordinator/core/record/listening.h"

#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "coordinator/core/state/refusal.h"

namespace rekindle::core {
namespace {

// At most this many reports are kept while the coordinator listens. Whoever reports beyond that is heard again later.
constexpr size_t kMostKept = 200'000;

// Returns the key under which a report is kept while the coordinator listens. The sender's next report has the same
// key, and replaces the report. Returns an empty string where the event is no report.
std::string SenderOf(const Event& event) {
  if (const auto* node = std::get_if<NodeReported>(&event)) {
    return absl::StrCat("1 ", node->report.node(), " ", node->report.agent_incarnation());
  }
  if (const auto* trainer = std::get_if<TrainerReported>(&event)) {
    // The key of a trainer's report includes the secret that the report gives for the job, so that a sender that does
    // not know the job's secret replaces nobody's report.
    return absl::StrCat("2 ", trainer->report.job_uid(), " ", trainer->report.trainer(), " ",
                        trainer->report.job_secret());
  }
  return "";
}

}  // namespace

absl::Status KeepForLater(Listening& listening, const Event& event) {
  if (IsVerb(event)) {
    return absl::UnavailableError(
        "the records were brought back from a copy, and the coordinator listens who lives before it decides: try again "
        "in some seconds");
  }
  const std::string sender = SenderOf(event);
  if (!sender.empty()) {
    const auto known = listening.reports.find(sender);
    if (known != listening.reports.end()) {
      known->second = event;
    } else if (listening.reports.size() < kMostKept) {
      listening.reports.emplace(sender, event);
    }
  } else if (!std::holds_alternative<Tick>(event) && listening.others.size() < kMostKept) {
    listening.others.push_back(event);
  }
  return absl::OkStatus();
}

std::vector<Event> EndListening(Listening& listening) {
  std::vector<Event> events;
  for (auto& [sender, event] : listening.reports) events.push_back(std::move(event));
  for (Event& event : listening.others) events.push_back(std::move(event));
  listening = {};
  return events;
}

}  // namespace rekindle::core
