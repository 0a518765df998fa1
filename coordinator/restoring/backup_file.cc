#include "coordinator/restoring/backup_file.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "common/text/printable.h"
#include "common/text/strict_json.h"

namespace rekindle::coordinator {
namespace {

constexpr std::string_view kMagic = "rekindle-backup\n";
constexpr int kFormat = 1;
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

}  // namespace

std::string BackupPreamble(const BackupHeader& header) {
  const nlohmann::ordered_json fields = {{"format", kFormat},
                                         {"needs_release", header.needs_release},
                                         {"cluster", common::Describe(header.identity)},
                                         {"taken_at", header.taken_at},
                                         {"release", header.release},
                                         {"schema", header.schema},
                                         {"bytes", header.bytes},
                                         {"xxh3_128", header.xxh3_128}};
  const std::string line = fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return absl::StrCat(std::string(kMagic), line, "\n", common::Xxh3_128Hex(line), "\n");
}

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
  if (piece.empty()) return absl::OkStatus();
  if (static_cast<int64_t>(piece.size()) > header_->bytes - taken_) return Damaged("it goes on after its end");
  taken_ += static_cast<int64_t>(piece.size());
  hasher_.Update(piece.data(), piece.size());
  return sink_(piece);
}

absl::Status BackupReader::CheckEnd() const {
  if (!status_.ok()) return status_;
  if (!header_ && preamble_.size() < kMagic.size()) return NoBackup();
  if (!header_) return Damaged("it is cut off within its header");
  if (taken_ < header_->bytes) {
    return Damaged(absl::StrCat("it is cut off: of its database ", taken_, " of ", header_->bytes, " bytes are there"));
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
