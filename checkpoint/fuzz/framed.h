// Reads and writes the notation in which fuzz targets take safetensors files: the JSON alone on a line, then the data.
// The functions of this header add the length before the JSON and the padding after it, so that a mutated input is not
// refused for its length alone.
#ifndef REKINDLE_CHECKPOINT_FUZZ_FRAMED_H_
#define REKINDLE_CHECKPOINT_FUZZ_FRAMED_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rekindle::checkpoint {

// Removes the first line and its newline from `text`, and returns the line without the newline.
inline std::string_view TakeLine(std::string_view* text) {
  const std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(text->size(), line.size() + 1));
  return line;
}

inline std::vector<uint8_t> SafetensorsFile(std::string_view json, std::string_view data) {
  constexpr size_t kLength = 8, kAlignment = 64;
  std::string text(json);
  text.resize((kLength + text.size() + kAlignment - 1) / kAlignment * kAlignment - kLength, ' ');
  std::vector<uint8_t> file;
  for (size_t i = 0; i < kLength; ++i) file.push_back(static_cast<uint8_t>(text.size() >> (8 * i)));
  file.insert(file.end(), text.begin(), text.end());
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

// Returns the JSON of a safetensors file's header and sets `data` to the file's data. From that JSON and data,
// SafetensorsFile makes the same file again.
inline std::string Unframed(const std::vector<uint8_t>& file, std::string* data) {
  const size_t length = file[0] | file[1] << 8 | file[2] << 16;
  data->assign(file.begin() + 8 + static_cast<int64_t>(length), file.end());
  const std::string json(file.begin() + 8, file.begin() + 8 + static_cast<int64_t>(length));
  return json.substr(0, json.find_last_not_of(' ') + 1);
}

// Checks a promise of the code under test. A broken promise aborts the program, because a fuzzer reports aborts.
#define REKINDLE_FUZZ_CHECK(condition)  \
  do {                                  \
    if (!(condition)) __builtin_trap(); \
  } while (false)

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FUZZ_FRAMED_H_
