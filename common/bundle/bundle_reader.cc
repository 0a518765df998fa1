#include "common/bundle/bundle_reader.h"

#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

constexpr size_t kOutputBytes = 64 << 10;
constexpr size_t kReadAtOnce = 1 << 20;

absl::Status Damaged(const std::string& how) {
  return absl::DataLossError(absl::StrCat("the bundle is damaged: ", how));
}

}  // namespace

struct BundleReader::Inflater {
  Inflater() { ready = inflateInit(&stream) == Z_OK; }
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }

  z_stream stream = {};
  bool ready = false;
  std::vector<char> output = std::vector<char>(kOutputBytes);
};

BundleReader::BundleReader(BundleVisitor visitor)
    : parser_(std::move(visitor)), inflater_(std::make_unique<Inflater>()) {
  if (!inflater_->ready) status_ = absl::InternalError("zlib could not be set up");
}
BundleReader::~BundleReader() = default;

absl::Status BundleReader::Take(std::string_view piece) {
  if (status_.ok()) status_ = TakeAny(piece);
  return status_;
}

absl::Status BundleReader::TakeAny(std::string_view piece) {
  packed_bytes_ += static_cast<int64_t>(piece.size());
  if (packed_bytes_ > kMaxPackedBundleBytes) {
    return Damaged(absl::StrCat("it has more than ", kMaxPackedBundleBytes >> 20, " MB packed"));
  }
  z_stream& stream = inflater_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  stream.avail_in = static_cast<uInt>(piece.size());
  bool is_full = false;
  while (stream.avail_in > 0 || is_full) {
    if (ended_) return Damaged("it goes on after its end");
    stream.next_out = reinterpret_cast<Bytef*>(inflater_->output.data());
    stream.avail_out = static_cast<uInt>(inflater_->output.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_BUF_ERROR) return absl::OkStatus();
    if (result != Z_OK && result != Z_STREAM_END) return Damaged("it is not what was packed");
    const std::string_view plain(inflater_->output.data(), inflater_->output.size() - stream.avail_out);
    hasher_.Update(plain);
    if (absl::Status taken = parser_.Take(plain); !taken.ok()) return taken;
    ended_ = result == Z_STREAM_END;
    is_full = stream.avail_out == 0 && !ended_;
  }
  return absl::OkStatus();
}

absl::StatusOr<BundleSummary> BundleReader::Finish(const std::string& address) {
  if (status_.ok() && !ended_) status_ = Damaged("it is cut off");
  if (status_.ok()) status_ = parser_.Finish();
  if (!status_.ok()) return status_;
  std::string found = hasher_.Hex();
  if (found != address) {
    return Damaged(absl::StrCat("it should be ", address.substr(0, 12), "..., and is ", found.substr(0, 12), "..."));
  }
  return BundleSummary{.address = std::move(found), .files = parser_.files(), .bytes = parser_.bytes()};
}

absl::StatusOr<BundleSummary> ReadBundleFile(FileSystem& fs, const std::string& path, const std::string& address,
                                             BundleVisitor visitor) {
  const auto file = fs.Open(path);
  if (!file.ok()) return file.status();
  BundleReader reader(std::move(visitor));
  std::vector<char> buffer(kReadAtOnce);
  for (int64_t at = 0;;) {
    const absl::StatusOr<size_t> got = (*file)->ReadAt(at, buffer.data(), buffer.size());
    if (!got.ok()) return got.status();
    if (*got == 0) return reader.Finish(address);
    at += static_cast<int64_t>(*got);
    if (absl::Status taken = reader.Take({buffer.data(), *got}); !taken.ok()) return taken;
  }
}

absl::StatusOr<BundleSummary> CheckPackedBundle(std::string_view packed, const std::string& address) {
  BundleReader reader({});
  if (absl::Status taken = reader.Take(packed); !taken.ok()) return taken;
  return reader.Finish(address);
}

}  // namespace rekindle::common
