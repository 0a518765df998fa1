#include "coordinator/core/state/text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rekindle::core {
namespace {

// Returns the positions of the last two slashes of a trainer's identity, or npos where it has fewer.
std::pair<size_t, size_t> Cuts(std::string_view trainer) {
  const size_t last = trainer.rfind('/');
  if (last == std::string_view::npos || last == 0) return {std::string_view::npos, std::string_view::npos};
  return {trainer.rfind('/', last - 1), last};
}

}  // namespace

std::string ShortName(const std::string& trainer) {
  const auto [first, last] = Cuts(trainer);
  return first == std::string::npos ? trainer : trainer.substr(0, last);
}

NodeSlot PlaceOf(std::string_view trainer) {
  const auto [first, last] = Cuts(trainer);
  if (first == std::string_view::npos) return {trainer, -1};
  int slot = -1;
  const absl::string_view digits(trainer.data() + first + 1, last - first - 1);
  if (!absl::SimpleAtoi(digits, &slot)) slot = -1;
  return {trainer.substr(0, first), slot};
}

int SlotOf(const std::string& trainer) { return PlaceOf(trainer).second; }

std::string NodeOf(const std::string& trainer) { return std::string(PlaceOf(trainer).first); }

std::string AnyTrainerOf(const std::string& slot) { return slot + "/0"; }

std::string DescribeExit(int exit_code, const std::string& reason) {
  // The agent's own words about an exit say more than the bare exit code.
  if (!reason.empty()) return absl::StrCat(exit_code < 0 ? "was " : "ended with ", Bounded(reason));
  return exit_code < 0 ? absl::StrCat("was killed by signal ", -exit_code)
                       : absl::StrCat("exited with code ", exit_code);
}

std::string JoinWords(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string DescribeResize(int before, int after) {
  if (before == after) return absl::StrCat("kept ", after);
  return absl::StrCat(after < before ? "shrank " : "grew ", before, " to ", after);
}

std::string Seconds(double seconds) { return absl::StrFormat("%.3g s", seconds); }

std::string Bounded(const std::string& text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(text.substr(0, end), "...");
}

}  // namespace rekindle::core
