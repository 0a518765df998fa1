#include "common/bundle/bundle_writer.h"

#include <zlib.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/text/printable.h"

namespace rekindle::common {
namespace {

constexpr size_t kOutputBytes = 64 << 10;

std::string Number(uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(number >> (8 * i)));
  return text;
}

std::string HeadOf(const BundleEntry& entry) {
  return absl::StrCat(Number(entry.name.size(), kBundleNameLengthBytes), entry.name,
                      Number(entry.executable ? 1 : 0, kBundleModeBytes),
                      Number(static_cast<uint64_t>(entry.bytes), kBundleSizeBytes));
}

}  // namespace

struct BundleWriter::Deflater {
  Deflater() { ready = deflateInit(&stream, Z_DEFAULT_COMPRESSION) == Z_OK; }
  ~Deflater() {
    if (ready) deflateEnd(&stream);
  }

  z_stream stream = {};
  bool ready = false;
};

BundleWriter::BundleWriter() : deflater_(std::make_unique<Deflater>()) {}
BundleWriter::~BundleWriter() = default;

absl::Status BundleWriter::CheckWhole() const {
  if (left_ == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("'", Printable(name_), "' changed while it was read: try again"));
}

absl::Status BundleWriter::Begin(const BundleEntry& entry) {
  if (absl::Status whole = CheckWhole(); !whole.ok()) return whole;
  if (absl::Status fit = names_.Add(entry.name); !fit.ok()) return fit;
  if (bundle_.summary.files == 0) {
    if (absl::Status put = Put(kBundleMagic); !put.ok()) return put;
  }
  if (++bundle_.summary.files > kMaxBundleFiles) {
    return absl::ResourceExhaustedError(absl::StrCat("there are more than ", kMaxBundleFiles, " files"));
  }
  if (entry.bytes < 0 || entry.bytes > kMaxBundleBytes - bundle_.summary.bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the files have more than ", kMaxBundleBytes >> 20, " MB"));
  }
  name_ = entry.name;
  left_ = entry.bytes;
  bundle_.summary.bytes += entry.bytes;
  return Put(HeadOf(entry));
}

absl::Status BundleWriter::Content(std::string_view piece) {
  if (static_cast<int64_t>(piece.size()) > left_) {
    left_ = -1;
    return CheckWhole();
  }
  left_ -= static_cast<int64_t>(piece.size());
  return Put(piece);
}

absl::Status BundleWriter::Put(std::string_view bytes, bool last) {
  if (!deflater_->ready) return absl::InternalError("zlib could not be set up");
  hasher_.Update(bytes);
  z_stream& stream = deflater_->stream;
  // zlib does not change what it reads, although its interface does not say so.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string output(kOutputBytes, '\0');
  do {
    stream.next_out = reinterpret_cast<Bytef*>(output.data());
    stream.avail_out = static_cast<uInt>(output.size());
    if (deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR) {
      return absl::InternalError("zlib could not compress");
    }
    bundle_.packed.append(output, 0, output.size() - stream.avail_out);
    if (static_cast<int64_t>(bundle_.packed.size()) > kMaxPackedBundleBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the files have more than ", kMaxPackedBundleBytes >> 20, " MB when they are packed"));
    }
  } while (stream.avail_out == 0);
  return absl::OkStatus();
}

absl::StatusOr<PackedBundle> BundleWriter::Finish() {
  if (absl::Status whole = CheckWhole(); !whole.ok()) return whole;
  if (bundle_.summary.files == 0) return absl::InvalidArgumentError("there is no file");
  if (absl::Status put = Put(Number(0, kBundleNameLengthBytes), /*last=*/true); !put.ok()) return put;
  bundle_.summary.address = hasher_.Hex();
  return std::move(bundle_);
}

std::string PlainBundle(const std::vector<PlainFile>& files) {
  std::string plain(kBundleMagic);
  for (const PlainFile& file : files) {
    absl::StrAppend(&plain, HeadOf({file.name, file.executable, static_cast<int64_t>(file.content.size())}),
                    file.content);
  }
  return plain + Number(0, kBundleNameLengthBytes);
}

}  // namespace rekindle::common
