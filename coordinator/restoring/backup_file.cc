#include "coordinator/restoring/backup_file.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/bundle/bundle.h"
#include "common/text/printable.h"
#include "common/text/strict_json.h"

namespace rekindle::coordinator {
namespace {

constexpr std::string_view kMagic = "rekindle-backup\n";
// Only a backup with bundles has the newest format.
constexpr int kFormat = 2;
constexpr int kFormatWithoutBundles = 1;
// The oldest release that reads a backup with bundles.
constexpr char kReleaseOfBundles[] = "0.2.0";
constexpr size_t kMaxBundleLineBytes = 80;
constexpr size_t kHashDigits = 32;
constexpr size_t kMaxPreambleBytes = kMagic.size() + kMaxBackupHeaderBytes + 1 + kHashDigits + 1;

absl::Status NoBackup() { return absl::InvalidArgumentError("is no backup that `rekindle backup` made"); }

absl::Status Damaged(const std::string& how) {
  return absl::DataLossError(absl::StrCat("is damaged: ", how, ": take another backup"));
}

// Reads the number under `key` in a JSON object. Returns false when the object has no such number, or when the number
// is less than `low` or too large for the type `Number`.
template <typename Number>
bool ReadNumber(const nlohmann::json& object, const char* key, int64_t low, Number* out) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return false;
  // A number above the range of int64 becomes negative when it is read as an int64, and is refused because of that.
  const auto value = found->get<int64_t>();
  if (value < low || value > std::numeric_limits<Number>::max()) return false;
  *out = static_cast<Number>(value);
  return true;
}

absl::Status NewerFormat(const nlohmann::json& header, int format) {
  const std::string release = common::Printable(common::StringOr(header, "needs_release"), 32);
  return absl::FailedPreconditionError(
      absl::StrCat("was made by a newer release (format ", format, ", this one reads up to ", kFormat, "): install ",
                   release.empty() ? "the release that made it" : absl::StrCat("release ", release, " or later")));
}

// Parses the header line of a backup. The line has the right hash, so whatever is wrong with it was wrong when it was
// written.
absl::StatusOr<BackupHeader> ParseHeader(std::string_view line) {
  const absl::StatusOr<nlohmann::json> parsed = common::ParseStrictJson(line);
  int format = 0;
  if (!parsed.ok() || !parsed->is_object() || !ReadNumber(*parsed, "format", 1, &format)) {
    return Damaged("its header cannot be read");
  }
  if (format > kFormat) return NewerFormat(*parsed, format);
  BackupHeader header;
  const absl::StatusOr<common::ClusterIdentity> identity =
      common::ParseClusterIdentity(common::StringOr(*parsed, "cluster"));
  const bool read = identity.ok() && ReadNumber(*parsed, "taken_at", 0, &header.taken_at) &&
                    ReadNumber(*parsed, "schema", 0, &header.schema) && ReadNumber(*parsed, "bytes", 1, &header.bytes);
  if (!read) return Damaged("its header lacks a field, or has an impossible value");
  if (format > kFormatWithoutBundles && !ReadNumber(*parsed, "bundles", 1, &header.bundles)) {
    return Damaged("its header does not say how many bundles it has");
  }
  header.identity = *identity;
  header.release = common::StringOr(*parsed, "release");
  header.needs_release = common::StringOr(*parsed, "needs_release");
  header.xxh3_128 = common::StringOr(*parsed, "xxh3_128");
  return header;
}

// Parses the lines before a backup's database. Returns nullopt when more of the text is needed. Sets `end` to where the
// database begins.
absl::StatusOr<std::optional<BackupHeader>> ParsePreamble(std::string_view text, size_t* end) {
  const size_t known = std::min(text.size(), kMagic.size());
  if (text.substr(0, known) != kMagic.substr(0, known)) return NoBackup();
  if (known < kMagic.size()) return std::nullopt;
  const size_t stop = text.find('\n', kMagic.size());
  const size_t length = std::min(stop, text.size()) - kMagic.size();
  if (length > kMaxBackupHeaderBytes) return Damaged("its header does not end");
  if (stop == std::string_view::npos || text.size() < stop + 1 + kHashDigits + 1) return std::nullopt;
  const std::string_view line = text.substr(kMagic.size(), length);
  if (text.substr(stop + 1, kHashDigits + 1) != absl::StrCat(common::Xxh3_128Hex(line), "\n")) {
    return Damaged("its header is not what was written");
  }
  absl::StatusOr<BackupHeader> header = ParseHeader(line);
  if (!header.ok()) return header.status();
  *end = stop + 1 + kHashDigits + 1;
  return std::optional<BackupHeader>(*std::move(header));
}

// Returns the numbers of a release such as "0.2.0", by which releases are ordered.
std::vector<int> NumbersOf(const std::string& release) {
  std::vector<int> numbers;
  for (const absl::string_view part : absl::StrSplit(release, '.')) {
    int number = 0;
    numbers.push_back(absl::SimpleAtoi(part, &number) ? number : 0);
  }
  return numbers;
}

}  // namespace

std::string BackupPreamble(const BackupHeader& header) {
  const bool has_bundles = header.bundles > 0;
  const bool needs_bundles = has_bundles && NumbersOf(header.needs_release) < NumbersOf(kReleaseOfBundles);
  nlohmann::ordered_json fields = {{"format", has_bundles ? kFormat : kFormatWithoutBundles},
                                   {"needs_release", needs_bundles ? kReleaseOfBundles : header.needs_release},
                                   {"cluster", common::Describe(header.identity)},
                                   {"taken_at", header.taken_at},
                                   {"release", header.release},
                                   {"schema", header.schema},
                                   {"bytes", header.bytes},
                                   {"xxh3_128", header.xxh3_128}};
  if (has_bundles) fields["bundles"] = header.bundles;
  const std::string line = fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return absl::StrCat(std::string(kMagic), line, "\n", common::Xxh3_128Hex(line), "\n");
}

std::string BundleLine(const std::string& address, int64_t bytes) { return absl::StrCat(address, " ", bytes, "\n"); }

absl::Status BackupReader::Take(std::string_view piece) {
  if (status_.ok()) status_ = TakeAny(piece);
  return status_;
}

absl::Status BackupReader::TakeAny(std::string_view piece) {
  if (header_) return TakeContent(piece);
  const size_t kept = std::min(piece.size(), kMaxPreambleBytes - preamble_.size());
  preamble_.append(piece.substr(0, kept));
  size_t end = 0;
  absl::StatusOr<std::optional<BackupHeader>> header = ParsePreamble(preamble_, &end);
  if (!header.ok()) return header.status();
  if (!*header) return absl::OkStatus();
  header_ = *std::move(header);
  if (absl::Status taken = TakeContent(std::string_view(preamble_).substr(end)); !taken.ok()) return taken;
  preamble_.clear();
  return TakeContent(piece.substr(kept));
}

absl::Status BackupReader::TakeContent(std::string_view piece) {
  const auto left = static_cast<uint64_t>(header_->bytes - taken_);
  const std::string_view content = piece.substr(0, std::min<uint64_t>(piece.size(), left));
  if (!content.empty()) {
    taken_ += static_cast<int64_t>(content.size());
    hasher_.Update(content.data(), content.size());
    if (absl::Status taken = sink_(content); !taken.ok()) return taken;
  }
  return TakeBundles(piece.substr(content.size()));
}

absl::Status BackupReader::TakeBundles(std::string_view piece) {
  while (!piece.empty()) {
    if (bundles_taken_ == header_->bundles) return Damaged("it goes on after its end");
    if (address_.empty()) {
      const size_t end = piece.find('\n');
      const size_t taken = end == std::string_view::npos ? piece.size() : end + 1;
      if (bundle_.size() + taken > kMaxBundleLineBytes) return Damaged("the line before a bundle does not end");
      bundle_.append(piece.substr(0, taken));
      piece.remove_prefix(taken);
      if (bundle_.back() != '\n') return absl::OkStatus();
      if (absl::Status read = TakeBundleLine(); !read.ok()) return read;
      continue;
    }
    const size_t taken = std::min(piece.size(), bundle_bytes_ - bundle_.size());
    bundle_.append(piece.substr(0, taken));
    piece.remove_prefix(taken);
    if (bundle_.size() < bundle_bytes_) return absl::OkStatus();
    if (absl::Status given = bundle_sink_(address_, bundle_); !given.ok()) return given;
    ++bundles_taken_;
    address_.clear();
    bundle_.clear();
  }
  return absl::OkStatus();
}

absl::Status BackupReader::TakeBundleLine() {
  const size_t space = bundle_.find(' ');
  const std::string address = bundle_.substr(0, space);
  int64_t bytes = 0;
  const bool fits = space != std::string::npos && common::IsBundleAddress(address) &&
                    absl::SimpleAtoi(bundle_.substr(space + 1), &bytes) && bytes > 0 &&
                    bytes <= common::kMaxPackedBundleBytes;
  if (!fits) return Damaged("the line before a bundle is not what was written");
  address_ = address;
  bundle_bytes_ = static_cast<size_t>(bytes);
  bundle_.clear();
  return absl::OkStatus();
}

absl::Status BackupReader::CheckEnd() const {
  if (!status_.ok()) return status_;
  if (!header_ && preamble_.size() < kMagic.size()) return NoBackup();
  if (!header_) return Damaged("it is cut off within its header");
  if (taken_ < header_->bytes) {
    return Damaged(absl::StrCat("it is cut off: of its database ", taken_, " of ", header_->bytes, " bytes are there"));
  }
  if (bundles_taken_ < header_->bundles) {
    return Damaged(absl::StrCat("it is cut off: ", bundles_taken_, " of ", header_->bundles, " bundles are there"));
  }
  if (hasher_.Hex() != header_->xxh3_128) return Damaged("its database is not what was written");
  return absl::OkStatus();
}

absl::StatusOr<BackupHeader> BackupReader::Finish() {
  status_ = CheckEnd();
  if (!status_.ok()) return status_;
  return *header_;
}

}  // namespace rekindle::coordinator
