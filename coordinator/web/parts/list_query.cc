#include "coordinator/web/parts/list_query.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rekindle::coordinator::web {
namespace {

absl::Status ReadNumber(const common::PageRequest& request, const std::string& name, size_t most, size_t* number) {
  const std::string& text = request.Query(name);
  if (text.empty()) return absl::OkStatus();
  uint64_t value = 0;
  if (!absl::SimpleAtoi(text, &value) || value > most) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": must be a whole number up to ", most));
  }
  *number = static_cast<size_t>(value);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ListQuery> ListQuery::Parse(const common::PageRequest& request, const std::vector<std::string>& sorts) {
  constexpr size_t kMost = 1'000'000;
  ListQuery query;
  query.text = absl::AsciiStrToLower(request.Query("q"));
  query.state = request.Query("state");
  query.team = request.Query("team");
  query.pool = request.Query("pool");
  query.sort = request.Query("sort").empty() ? sorts.front() : request.Query("sort");
  if (std::find(sorts.begin(), sorts.end(), query.sort) == sorts.end()) {
    return absl::InvalidArgumentError(absl::StrCat("sort: must be one of ", absl::StrJoin(sorts, ", ")));
  }
  const std::string& order = request.Query("order");
  if (order != "" && order != "up" && order != "down") {
    return absl::InvalidArgumentError("order: must be up or down");
  }
  query.descending = order == "down";
  if (absl::Status offset = ReadNumber(request, "offset", kMost, &query.offset); !offset.ok()) return offset;
  if (absl::Status limit = ReadNumber(request, "limit", kLargestPage, &query.limit); !limit.ok()) return limit;
  return query;
}

std::string ListQuery::Key() const {
  const auto quoted = [](const std::string& text) { return absl::StrCat("\"", absl::CEscape(text), "\""); };
  return absl::StrJoin({quoted(text), quoted(state), quoted(team), quoted(pool), sort,
                        std::string(descending ? "down" : "up"), absl::StrCat(offset), absl::StrCat(limit)},
                       " ");
}

}  // namespace rekindle::coordinator::web
