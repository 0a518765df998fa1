#include "coordinator/core/listening.h"

#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "coordinator/core/refusal.h"

namespace rekindle::core {
namespace {

constexpr size_t kMostKept = 200'000;  // Whoever speaks beyond that is heard again later.

// Of what is replaced by the sender's next one; empty: it is no report.
std::string SenderOf(const Event& event) {
  if (const auto* node = std::get_if<NodeReported>(&event)) {
    return absl::StrCat("1 ", node->report.node(), " ", node->report.agent_incarnation());
  }
  if (const auto* trainer = std::get_if<TrainerReported>(&event)) {
    // With its secret: who does not know it replaces nobody's word.
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
