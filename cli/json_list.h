// A JSON document {"NAME": [...]} that is printed as it grows, and not at all where it fails while it is small.
#ifndef REKINDLE_CLI_JSON_LIST_H_
#define REKINDLE_CLI_JSON_LIST_H_

#include <ostream>
#include <string>

namespace rekindle::cli {

// Thread-compatible. Nothing is written before Finish until `limit` bytes are there: whoever gives up before Finish has
// left nothing on `out` then. Larger ones are written as they come, so that their size costs no memory.
class JsonList {
 public:
  static constexpr size_t kLimit = 16 << 20;

  JsonList(std::ostream& out, const std::string& name, size_t limit = kLimit)
      : out_(out), limit_(limit), text_("{\"" + name + "\": [") {}

  // `json` is a whole value.
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

#endif  // REKINDLE_CLI_JSON_LIST_H_
