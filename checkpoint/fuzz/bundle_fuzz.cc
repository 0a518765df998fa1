// Fuzzes the reader of bundles (common/bundle/bundle.h). An input is a bundle in its plain form, without the line at
// its beginning, or in its packed form.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/fuzz/framed.h"
#include "common/bundle/bundle_reader.h"
#include "common/bundle/bundle_writer.h"

namespace rekindle::common {
namespace {

// Takes the files of a bundle, and checks what each visitor is promised.
class Files {
 public:
  // With `keeps_content` the content of the files is kept as well. A small packed bundle may have much of it.
  explicit Files(bool keeps_content) : keeps_content_(keeps_content) {}

  BundleVisitor Visitor() {
    return {.begin =
                [this](const BundleEntry& entry) {
                  REKINDLE_FUZZ_CHECK(left_ == 0 && CheckBundleName(entry.name).ok() && entry.bytes >= 0);
                  REKINDLE_FUZZ_CHECK(files_.empty() || files_.back().name < entry.name);
                  left_ = entry.bytes;
                  bytes_ += entry.bytes;
                  REKINDLE_FUZZ_CHECK(bytes_ <= kMaxBundleBytes);
                  files_.push_back({entry.name, "", entry.executable});
                  REKINDLE_FUZZ_CHECK(files_.size() <= static_cast<size_t>(kMaxBundleFiles));
                  return absl::OkStatus();
                },
            .content =
                [this](std::string_view piece) {
                  left_ -= static_cast<int64_t>(piece.size());
                  REKINDLE_FUZZ_CHECK(left_ >= 0 && !piece.empty());
                  if (keeps_content_) files_.back().content += piece;
                  return absl::OkStatus();
                }};
  }
  const std::vector<PlainFile>& files() const { return files_; }
  bool is_whole() const { return left_ == 0; }

 private:
  const bool keeps_content_;
  std::vector<PlainFile> files_;
  int64_t left_ = 0, bytes_ = 0;
};

// Reads the plain form in pieces of `piece` bytes. What was read is the input again, byte for byte.
void ReadPlain(const std::string& plain, size_t piece) {
  Files files(/*keeps_content=*/true);
  BundleParser parser(files.Visitor());
  absl::Status taken;
  for (size_t at = 0; taken.ok() && at < plain.size(); at += piece) {
    taken = parser.Take(std::string_view(plain).substr(at, piece));
  }
  if (!taken.ok() || !parser.Finish().ok()) return;
  REKINDLE_FUZZ_CHECK(files.is_whole() && PlainBundle(files.files()) == plain);
}

}  // namespace
}  // namespace rekindle::common

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rekindle::common;
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string plain = absl::StrCat(std::string(kBundleMagic), input);
  ReadPlain(plain, plain.size());
  ReadPlain(plain, 3);
  Files files(/*keeps_content=*/false);
  BundleReader reader(files.Visitor());
  REKINDLE_FUZZ_CHECK(!reader.Take(input).ok() || !reader.Finish(std::string(64, '0')).ok());
  return 0;
}
