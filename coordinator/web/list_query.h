// How a list is asked for: which of its entries, in which order, from which one on.
#ifndef REKINDLE_COORDINATOR_WEB_LIST_QUERY_H_
#define REKINDLE_COORDINATOR_WEB_LIST_QUERY_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/serve/page_server.h"

namespace rekindle::coordinator::web {

inline constexpr size_t kLargestPage = 100;  // Entries of a page.

struct ListQuery {
  std::string text;   // In lower case: entries whose name has it.
  std::string state;  // Empty: any; so are the next two.
  std::string team;
  std::string pool;
  std::string sort;
  bool descending = false;
  size_t offset = 0;
  size_t limit = kLargestPage;

  // INVALID_ARGUMENT names the parameter that is wrong. `sorts`: what there is to sort by, the default first.
  static absl::StatusOr<ListQuery> Parse(const common::PageRequest& request, const std::vector<std::string>& sorts);
  // Equal for queries that have the same answer.
  std::string Key() const;
};

// The page of `entries` that `query` asks for. `less`: the order by query.sort, ascending, in which no two are equal.
// Sorts no more of them than it must.
template <typename Entry, typename Less>
std::vector<Entry> PageOf(std::vector<Entry> entries, const ListQuery& query, Less less) {
  const size_t begin = std::min(query.offset, entries.size());
  const size_t end = std::min(begin + query.limit, entries.size());
  std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(end), entries.end(),
                    [&](const Entry& a, const Entry& b) { return query.descending ? less(b, a) : less(a, b); });
  return {entries.begin() + static_cast<std::ptrdiff_t>(begin), entries.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_LIST_QUERY_H_
