// Prints a JSON document {"NAME": [...]} as it grows. If printing fails while it is small, nothing is printed.
#ifndef REKINDLE_CLI_TEXT_JSON_LIST_H_
#define REKINDLE_CLI_TEXT_JSON_LIST_H_

#include <ostream>
#include <string>

namespace rekindle::cli {

// Collects the values of a list. It is thread-compatible. Nothing is written before Finish until `limit` bytes are
// there. So a caller that gives up before has left nothing on `out`. Larger documents are written as they grow, so that
// their size costs no memory.
class JsonList {
 public:
  static constexpr size_t kLimit = 16 << 20;

  JsonList(std::ostream& out, const std::string& name, size_t limit = kLimit)
      : out_(out), limit_(limit), text_("{\"" + name + "\": [") {}

  // Adds `json`, which must be a whole value.
  void Add(const std::string& json) {
    text_ += (empty_ ? "\n" : ",\n") + json;
    empty_ = false;
    if (text_.size() > limit_) Write();
  }
  void Finish() {
    text_ += "\n]}\n";
    Write();
  }

 private:
  void Write() {
    out_ << text_;
    text_.clear();
  }

  std::ostream& out_;
  const size_t limit_;
  std::string text_;
  bool empty_ = true;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_JSON_LIST_H_
