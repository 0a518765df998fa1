// Prints a JSON document {"NAME": [...]} as it grows. If the caller gives up while the document is small, nothing is
// printed.
#ifndef REKINDLE_CLI_TEXT_JSON_LIST_H_
#define REKINDLE_CLI_TEXT_JSON_LIST_H_

#include <ostream>
#include <string>

namespace rekindle::cli {

// Collects the values of a list. It is thread-compatible. Before Finish is called, nothing is written until there are
// `limit` bytes. So a caller that gives up before that has left nothing on `out`. Larger documents are written as they
// grow, so that their size costs no memory.
class JsonList {
 public:
  static constexpr size_t kLimit = 16 << 20;

  JsonList(std::ostream& out, const std::string& name, size_t limit = kLimit)
      : out_(out), limit_(limit), text_("{\"" + name + "\": [") {}

  // Adds `json` to the list. It must be a whole JSON value.
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
