#include "worker/data/kinds/record_files.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace rekindle::data {

absl::StatusOr<ByteCache> OpenRecords(const DataSpec& spec, const DataKind& kind, const std::string& folder) {
  const int64_t record = kind.record_bytes;
  const auto files = FindInputFiles(FilesOf(*spec.section, kind), spec.roots);
  if (!files.ok()) return files.status();
  for (const InputFile& file : *files) {
    if (file.size % record == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(file.path, " has ", file.size, " bytes, no multiple of ", record,
                                                   ": it is truncated, or not of this format"));
  }
  const auto most = static_cast<int64_t>(spec.section->max_bytes());
  return ByteCache::Open(*files, most / record * record, folder, spec.roots);
}

}  // namespace rekindle::data
