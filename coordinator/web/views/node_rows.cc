#include "coordinator/web/views/node_rows.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "coordinator/web/parts/json.h"

namespace rekindle::coordinator::web {
namespace {

bool Matches(const v1::Node& node, const ListQuery& query) {
  if (!query.state.empty() && node.state() != query.state) return false;
  if (!query.pool.empty() && node.pool() != query.pool) return false;
  return query.text.empty() || absl::StrContains(absl::AsciiStrToLower(node.name()), query.text);
}

bool Less(const std::string& sort, const v1::Node& a, const v1::Node& b) {
  int compared = 0;
  if (sort == "state") compared = a.state().compare(b.state());
  if (sort == "pool") compared = a.pool().compare(b.pool());
  if (sort == "zone") compared = a.zone().compare(b.zone());
  if (sort == "slots") compared = a.slots() - b.slots();
  if (sort == "trainers") compared = a.trainers_size() - b.trainers_size();
  if (sort == "seen") {
    compared = a.last_seen_seconds() < b.last_seen_seconds() ? -1 : a.last_seen_seconds() > b.last_seen_seconds();
  }
  return compared != 0 ? compared < 0 : a.name() < b.name();
}

}  // namespace

const std::vector<std::string>& NodeSorts() {
  static const std::vector<std::string> sorts = {"name", "state", "pool", "zone", "slots", "trainers", "seen"};
  return sorts;
}

std::string NodeListJson(const std::vector<v1::Node>& nodes, const ListQuery& query) {
  std::vector<const v1::Node*> matching;
  for (const v1::Node& node : nodes) {
    if (Matches(node, query)) matching.push_back(&node);
  }
  std::string json = absl::StrCat("{\"matching\":", matching.size(), ",\"all\":", nodes.size(), ",\"nodes\":[");
  const auto less = [&](const v1::Node* a, const v1::Node* b) { return Less(query.sort, *a, *b); };
  const char* between = "";
  for (const v1::Node* node : PageOf(std::move(matching), query, less)) {
    absl::StrAppend(&json, between, ToJson(*node));
    between = ",";
  }
  return json + "]}";
}

NodeTotals TotalsOf(const std::vector<v1::Node>& nodes) {
  NodeTotals totals;
  for (const v1::Node& node : nodes) {
    ++totals.states[node.state()];
    // A lost or drained node adds no slots and trainers: as far as is known, its trainers do not run any more, and no
    // others will be started there.
    if (node.state() == "lost" || node.state() == "drained") continue;
    totals.slots += node.slots();
    totals.trainers += node.trainers_size();
  }
  return totals;
}

std::string PoolsJson(const PoolBook& book, const std::vector<v1::Node>& nodes) {
  struct Use {
    int nodes = 0;
    int ready = 0;
    int trainers = 0;
  };
  absl::flat_hash_map<absl::string_view, Use> uses;
  for (const v1::Node& node : nodes) {
    Use& use = uses[node.pool()];
    ++use.nodes;
    if (node.state() == "ready") ++use.ready;
    use.trainers += node.trainers_size();
  }
  nlohmann::json pools = nlohmann::json::array();
  for (const PoolFacts& pool : book.pools) {
    const Use use = uses[pool.name];
    nlohmann::json one = {{"name", pool.name},
                          {"capacity", pool.capacity},
                          {"instance_type", pool.instance_type},
                          {"device", pool.device},
                          {"ordered", pool.ordered},
                          {"nodes", use.nodes},
                          {"ready", use.ready},
                          {"trainers", use.trainers},
                          {"price", pool.price},
                          {"price_from", pool.price_from},
                          {"stale", pool.stale},
                          {"carbon_region", pool.carbon_region},
                          {"never_registered", pool.never_registered.machines()},
                          {"never_registered_spent", pool.never_registered.spent()}};
    if (pool.ordered) one.update({{"min", pool.min}, {"max", pool.max}});
    if (pool.on_demand) one["on_demand"] = *pool.on_demand;
    if (pool.intensity) one["intensity"] = *pool.intensity;
    pools.push_back(std::move(one));
  }
  return Dump({{"currency", book.currency}, {"pools", std::move(pools)}});
}

}  // namespace rekindle::coordinator::web
