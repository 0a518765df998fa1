// Words for reasons: every decision is told in one sentence.
#ifndef REKINDLE_COORDINATOR_CORE_TEXT_H_
#define REKINDLE_COORDINATOR_CORE_TEXT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rekindle::core {

// "<node>/<slot>/<incarnation>" -> "<node>/<slot>".
std::string ShortName(const std::string& trainer);
using NodeSlot = std::pair<std::string_view, int>;
// Both of the two below. Points into `trainer`.
NodeSlot PlaceOf(std::string_view trainer);
// The slot in a trainer's identity, -1 when it has none.
int SlotOf(const std::string& trainer);
// The node in a trainer's identity; the whole of it when it has no slot.
std::string NodeOf(const std::string& trainer);

// The other way round: a name that NodeOf and SlotOf understand.
std::string AnyTrainerOf(const std::string& slot);

// "was killed by signal 9", "exited with code 3 (reason)".
std::string DescribeExit(int exit_code, const std::string& reason);

// "a", "a and b", "a, b and c".
std::string JoinWords(const std::vector<std::string>& words);

// "shrank 3 to 2", "grew 2 to 3", "kept 3".
std::string DescribeResize(int before, int after);

// "1.5 s", "0.1 s".
std::string Seconds(double seconds);

// Cuts what came over the network, for logs and status; never within a character of UTF-8, of which the strings of a
// message must be.
std::string Bounded(const std::string& text, size_t limit = 500);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_TEXT_H_
