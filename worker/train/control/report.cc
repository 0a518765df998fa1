#include "worker/train/control/report.h"

#include "common/text/printable.h"

namespace rekindle::train {

std::string NoteOf(const std::string& text) {
  constexpr size_t kLongest = 300;
  return common::Printable(text.substr(0, text.find('\n')), kLongest);
}

}  // namespace rekindle::train
