// Keeps values of the environment out of texts that leave the node: log, events, errors, tracebacks.
#ifndef REKINDLE_WORKER_USER_CODE_SCRUBBER_H_
#define REKINDLE_WORKER_USER_CODE_SCRUBBER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rekindle::user_code {

// Is immutable, and so thread-safe. It finds a value as it is, as JSON and repr() of Python write it, and each line of
// it that is long enough. It does not find what code of users has encoded in another way: that code may have the value,
// and may also send it over the network.
class Scrubber {
 public:
  // Values, and lines of them, of fewer than `kShortest` characters stay, because they would be found in words.
  static constexpr size_t kShortest = 6;

  Scrubber() = default;
  // `values` has names and values.
  explicit Scrubber(const std::vector<std::pair<std::string, std::string>>& values);

  // Returns the text with "[NAME]" in place of each value, and of the begin of one at the end of the text: whoever made
  // the text may have cut it there.
  std::string Scrub(std::string_view text) const;
  // Does the same for whole values alone, in a text that will go on.
  std::string ScrubWhole(std::string_view text) const;
  // Returns the length of the longest text that is looked for.
  size_t Longest() const { return forms_.empty() ? 0 : forms_.front().first.size(); }

 private:
  // `forms_` has what is looked for and what takes its place. Longer forms come first.
  std::vector<std::pair<std::string, std::string>> forms_;
};

}  // namespace rekindle::user_code

#endif  // REKINDLE_WORKER_USER_CODE_SCRUBBER_H_
