// Makes the words of the reasons for decisions. Every decision is explained in one sentence.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_TEXT_H_
#define REKINDLE_COORDINATOR_CORE_STATE_TEXT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rekindle::core {

// Returns "<node>/<slot>" of a trainer's identity "<node>/<slot>/<incarnation>".
std::string ShortName(const std::string& trainer);
using NodeSlot = std::pair<std::string_view, int>;
// Returns the node and the slot in a trainer's identity, as `NodeOf` and `SlotOf` do. The result points into `trainer`.
NodeSlot PlaceOf(std::string_view trainer);
// Returns the slot in a trainer's identity, or -1 where it has none.
int SlotOf(const std::string& trainer);
// Returns the node in a trainer's identity, or the whole of it where it has no slot.
std::string NodeOf(const std::string& trainer);

// Returns a trainer's identity from which `NodeOf` and `SlotOf` read the node and the number of `slot`, which is
// "<node>/<slot>".
std::string AnyTrainerOf(const std::string& slot);

// Describes how a trainer exited, in words such as "was killed by signal 9" or "exited with code 3". Uses the agent's
// reason where it gives one.
std::string DescribeExit(int exit_code, const std::string& reason);

// Joins words into a list for a sentence, such as "a", "a and b" or "a, b and c".
std::string JoinWords(const std::vector<std::string>& words);

// Describes how the number of members has changed, in words such as "shrank 3 to 2", "grew 2 to 3" or "kept 3".
std::string DescribeResize(int before, int after);

// Returns a number of seconds in words such as "1.5 s" or "0.1 s".
std::string Seconds(double seconds);

// Cuts text that came over the network, for logs and status. It never cuts within a UTF-8 character, because the
// strings of a message must be valid UTF-8.
std::string Bounded(const std::string& text, size_t limit = 500);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_TEXT_H_
