#include "tests/simulation/world/sim_journal.h"

#include "absl/strings/str_format.h"

namespace rekindle::core::simulation {
namespace {

constexpr size_t kJournalLines = 4000;

}  // namespace

void Journal::Note(const std::string& line) {
  lines_.push_back(absl::StrFormat("%8.3f %s", queue_.now(), line));
  if (lines_.size() > kJournalLines) lines_.pop_front();
}

void Journal::Violate(const std::string& what) {
  if (!violation_.empty()) return;
  violation_ = absl::StrFormat("at %.3f s: %s", queue_.now(), what);
  Note("VIOLATION " + what);
}

}  // namespace rekindle::core::simulation
