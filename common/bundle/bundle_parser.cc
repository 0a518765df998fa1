#include "common/bundle/bundle_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/text/printable.h"

namespace rekindle::common {
namespace {

constexpr size_t kHeadBytes = kBundleModeBytes + kBundleSizeBytes;

absl::Status Damaged(const std::string& how) {
  return absl::DataLossError(absl::StrCat("the bundle is damaged: ", how));
}

uint64_t Number(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return number;
}

}  // namespace

void BundleParser::Await(State state, size_t bytes) {
  state_ = state;
  part_bytes_ = bytes;
  part_.clear();
}

absl::Status BundleParser::Take(std::string_view piece) {
  while (status_.ok() && !piece.empty()) status_ = Step(&piece);
  return status_;
}

absl::Status BundleParser::Step(std::string_view* piece) {
  if (state_ == State::kEnd) return Damaged("it goes on after its end");
  if (state_ == State::kContent) {
    const auto taken = std::min<size_t>(piece->size(), static_cast<size_t>(left_));
    const absl::Status given = visitor_.content ? visitor_.content(piece->substr(0, taken)) : absl::OkStatus();
    if (!given.ok()) return given;
    piece->remove_prefix(taken);
    left_ -= static_cast<int64_t>(taken);
    if (left_ == 0) Await(State::kNameLength, kBundleNameLengthBytes);
    return absl::OkStatus();
  }
  const size_t taken = std::min(piece->size(), part_bytes_ - part_.size());
  part_.append(piece->substr(0, taken));
  piece->remove_prefix(taken);
  return part_.size() < part_bytes_ ? absl::OkStatus() : TakePart();
}

absl::Status BundleParser::TakePart() {
  switch (state_) {
    case State::kMagic:
      if (part_ != kBundleMagic) return Damaged("it does not begin as a bundle does");
      Await(State::kNameLength, kBundleNameLengthBytes);
      return absl::OkStatus();
    case State::kNameLength: {
      const auto length = static_cast<size_t>(Number(part_));
      if (length > kMaxBundleNameBytes) return Damaged("a file has a name that is too long");
      Await(length == 0 ? State::kEnd : State::kName, length);
      return absl::OkStatus();
    }
    case State::kName:
      entry_.name = part_;
      if (const absl::Status fit = names_.Add(entry_.name); !fit.ok()) return Damaged(std::string(fit.message()));
      Await(State::kHead, kHeadBytes);
      return absl::OkStatus();
    case State::kHead:
      return TakeHead();
    default:
      return absl::InternalError("a bundle's content is no part of a fixed length");
  }
}

absl::Status BundleParser::TakeHead() {
  const uint64_t mode = Number(std::string_view(part_).substr(0, 1));
  const uint64_t size = Number(std::string_view(part_).substr(1));
  if (mode > 1) return Damaged(absl::StrCat("'", Printable(entry_.name), "' is no file"));
  if (++files_ > kMaxBundleFiles) return Damaged(absl::StrCat("it has more than ", kMaxBundleFiles, " files"));
  if (size > static_cast<uint64_t>(kMaxBundleBytes - bytes_)) {
    return Damaged(absl::StrCat("its files have more than ", kMaxBundleBytes >> 20, " MB"));
  }
  entry_.executable = mode == 1;
  entry_.bytes = left_ = static_cast<int64_t>(size);
  bytes_ += entry_.bytes;
  if (visitor_.begin) {
    if (absl::Status given = visitor_.begin(entry_); !given.ok()) return given;
  }
  if (left_ > 0) {
    Await(State::kContent, 0);
  } else {
    Await(State::kNameLength, kBundleNameLengthBytes);
  }
  return absl::OkStatus();
}

absl::Status BundleParser::Finish() const {
  if (!status_.ok()) return status_;
  return state_ == State::kEnd ? absl::OkStatus() : Damaged("it is cut off");
}

}  // namespace rekindle::common
