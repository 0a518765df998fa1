// Describes a request for a list of jobs or nodes: which of its entries, in which order, and from which one on.
#ifndef REKINDLE_COORDINATOR_WEB_PARTS_LIST_QUERY_H_
#define REKINDLE_COORDINATOR_WEB_PARTS_LIST_QUERY_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/serve/page_server.h"

namespace rekindle::coordinator::web {

// A page of a list has at most `kLargestPage` entries.
inline constexpr size_t kLargestPage = 100;

struct ListQuery {
  // `text` is in lower case. The query matches the entries whose name contains `text`.
  std::string text;
  // An empty `state`, `team` or `pool` matches any.
  std::string state;
  std::string team;
  std::string pool;
  std::string sort;
  bool descending = false;
  size_t offset = 0;
  size_t limit = kLargestPage;

  // Parses a request for a list. INVALID_ARGUMENT names the parameter that is wrong. `sorts` names what the list can be
  // sorted by, the default first.
  static absl::StatusOr<ListQuery> Parse(const common::PageRequest& request, const std::vector<std::string>& sorts);
  // Returns a key that is equal for queries with the same answer.
  std::string Key() const;
};

// Returns the page of `entries` that `query` asks for. `less` is the ascending order by query.sort, in which no two
// entries are equal. Only as many entries are sorted as necessary.
template <typename Entry, typename Less>
std::vector<Entry> PageOf(std::vector<Entry> entries, const ListQuery& query, Less less) {
  const size_t begin = std::min(query.offset, entries.size());
  const size_t end = std::min(begin + query.limit, entries.size());
  std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(end), entries.end(),
                    [&](const Entry& a, const Entry& b) { return query.descending ? less(b, a) : less(a, b); });
  return {entries.begin() + static_cast<std::ptrdiff_t>(begin), entries.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PARTS_LIST_QUERY_H_
