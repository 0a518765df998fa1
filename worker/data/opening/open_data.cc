#include "worker/data/opening/open_data.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/data/kinds/data_opener.h"

namespace rekindle::data {
namespace {

absl::Status CheckSection(const DataSpec& spec, const DataKind& kind) {
  absl::Status first;
  if (kind.check == nullptr) return first;
  kind.check(*spec.section, [&](const std::string& field, const std::string& why, const std::vector<std::string>&) {
    first.Update(absl::InvalidArgumentError(absl::StrCat(field, ": ", why)));
  });
  return first;
}

absl::StatusOr<OpenedData> Open(const DataSpec& spec, const DataKind& kind, const DataNeeds& needs,
                                const std::string& folder) {
  if (absl::Status status = CheckSection(spec, kind); !status.ok()) return status;
#define REKINDLE_TRY(Name) \
  if (&kind == &k##Name##Data) return Open##Name(spec, needs, folder);
  REKINDLE_DATA_KINDS(REKINDLE_TRY)
#undef REKINDLE_TRY
  return absl::InternalError("a kind of data that nobody opens");
}

}  // namespace

absl::StatusOr<OpenedData> OpenData(const DataSpec& spec, const DataNeeds& needs, const std::string& folder) {
  const DataKind& kind = KindOf(*spec.section);
  auto opened = Open(spec, kind, needs, folder);
  if (opened.ok()) return opened;
  return absl::Status(opened.status().code(), absl::StrCat("data.", kind.name, ": ", opened.status().message()));
}

}  // namespace rekindle::data
