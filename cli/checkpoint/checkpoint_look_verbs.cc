// Implements the verbs checkpoint ls, show and verify.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "checkpoint/format/manifest.h"
#include "checkpoint/format/manifest_release.h"
#include "cli/checkpoint/checkpoint_verbs.h"
#include "cli/checkpoint/storage_prices.h"
#include "cli/store/checkpoint_place.h"
#include "cli/text/number_text.h"
#include "cli/text/plain_table.h"
#include "cli/text/safe_text.h"
#include "common/objects/object_uri.h"

namespace rekindle::cli {
namespace {

using Json = nlohmann::ordered_json;

// A `Shelf` is a store of the job with what it holds: either the hot store or the archive.
struct Shelf {
  bool archive = false;
  std::string uri;
  std::vector<checkpoint::StoredCheckpoint> checkpoints;
  std::set<std::string> pinned;
  // `problem` says why the store could not be read.
  std::string problem;
  // `bytes` is the size of the store's distinct shards.
  int64_t bytes = 0;
};

absl::StatusOr<Shelf> ReadShelf(const Place& place, bool archive) {
  Shelf shelf{.archive = archive, .uri = archive ? place.retention.archive_store : place.store};
  auto store = OpenStore(shelf.uri);
  if (!store.ok()) return store.status();
  auto all = store->List(place.uid);
  if (!all.ok()) return all.status();
  auto pinned = store->Pinned(place.uid);
  if (!pinned.ok()) return pinned.status();
  shelf.checkpoints = *std::move(all);
  shelf.pinned = *std::move(pinned);
  // Each shard is counted once, because checkpoints share the shards that did not change.
  std::set<std::string> seen;
  for (const auto& checkpoint : shelf.checkpoints) {
    for (const checkpoint::ShardRef& ref : checkpoint.manifest.shards) {
      if (seen.insert(ref.name).second) shelf.bytes += ref.bytes;
    }
  }
  return shelf;
}

absl::StatusOr<std::vector<Shelf>> ReadShelves(const Place& place) {
  auto hot = ReadShelf(place, false);
  if (!hot.ok()) return hot.status();
  std::vector<Shelf> shelves = {*std::move(hot)};
  if (place.retention.archive_store.empty()) return shelves;
  auto archive = ReadShelf(place, true);
  shelves.push_back(archive.ok() ? *std::move(archive)
                                 : Shelf{.archive = true,
                                         .uri = place.retention.archive_store,
                                         .problem = std::string(archive.status().message())});
  return shelves;
}

const char* TierOf(const Shelf& shelf) { return shelf.archive ? "archive" : "store"; }

Json JsonOf(const Shelf& shelf, const checkpoint::StoredCheckpoint& one) {
  const auto name = checkpoint::ParseName(one.name);
  Json json = {{"name", one.name},
               {"tier", TierOf(shelf)},
               {"generation", name.ok() ? name->generation : 0},
               {"step", name.ok() ? name->step : 0},
               {"writer", name.ok() ? name->writer : ""},
               {"shards", static_cast<int>(one.manifest.shards.size())},
               {"bytes", static_cast<double>(one.bytes)},
               {"written", one.written},
               {"pinned", shelf.pinned.contains(one.name)},
               {"problem", one.problem}};
  if (one.manifest.loss) json["loss"] = *one.manifest.loss;
  if (one.manifest.validation_loss) json["validation_loss"] = *one.manifest.validation_loss;
  return json;
}

Json MoneyJson(const std::vector<Shelf>& shelves, const v1::PriceTable& prices) {
  Json tiers = Json::array();
  for (const Shelf& shelf : shelves) {
    Json tier = {{"tier", TierOf(shelf)},
                 {"store", common::PublicUri(shelf.uri)},
                 {"checkpoints", static_cast<int>(shelf.checkpoints.size())},
                 {"bytes", static_cast<double>(shelf.bytes)},
                 {"problem", shelf.problem}};
    if (const auto* price = PriceOf(prices, shelf.uri, shelf.archive)) {
      tier["storage"] = price->tier();
      tier["cost_month"] = MonthlyCost(*price, shelf.bytes);
    }
    tiers.push_back(tier);
  }
  return tiers;
}

void PrintMoney(const std::vector<Shelf>& shelves, const v1::PriceTable& prices) {
  for (const Shelf& shelf : shelves) {
    std::cout << TierOf(shelf) << " " << common::PublicUri(shelf.uri) << ": ";
    if (!shelf.problem.empty()) {
      std::cout << "cannot be read: " << Printable(shelf.problem) << "\n";
      continue;
    }
    std::cout << shelf.checkpoints.size() << " checkpoints, " << Short(static_cast<double>(shelf.bytes)) << " bytes";
    if (const auto* price = PriceOf(prices, shelf.uri, shelf.archive)) {
      std::cout << ", " << Fixed(MonthlyCost(*price, shelf.bytes), 2) << " " << Printable(prices.currency())
                << " a month (" << Printable(price->tier()) << ", prices as of " << Printable(prices.as_of()) << ")";
    }
    std::cout << "\n";
  }
}

std::string NoteOf(const Shelf& shelf, const checkpoint::StoredCheckpoint& one) {
  if (!one.problem.empty()) return Printable(one.problem);
  return shelf.pinned.contains(one.name) ? "pinned" : "-";
}

void AddList(CLI::App& parent, Context& context) {
  CLI::App* verb = parent.add_subcommand("ls", "List a job's checkpoints, newest first, and what they cost a month");
  auto flags = AddPlace(verb, "JOB");
  auto file = std::make_shared<std::string>();
  verb->add_option("--prices", *file, "Price table to use in place of the shipped one (YAML)");
  context.OnRun(verb, [flags, file, &context]() -> absl::Status {
    const auto prices = LoadPrices(*file);
    if (!prices.ok()) return prices.status();
    const auto place = PlaceOf(context, *flags, 0, 0);
    if (!place.ok()) return place.status();
    const auto shelves = ReadShelves(*place);
    if (!shelves.ok()) return shelves.status();
    Json all = Json::array();
    std::vector<std::vector<std::string>> rows = {
        {"CHECKPOINT", "STEP", "VALIDATION", "BYTES", "WRITTEN", "TIER", "NOTE"}};
    for (const Shelf& shelf : *shelves) {
      for (const auto& one : shelf.checkpoints) {
        all.push_back(JsonOf(shelf, one));
        const auto loss = one.manifest.validation_loss;
        rows.push_back({one.name, std::to_string(all.back()["step"].get<int>()), loss ? Fixed(*loss, 4) : "-",
                        Short(static_cast<double>(one.bytes)), LocalTime(one.written), TierOf(shelf),
                        NoteOf(shelf, one)});
      }
    }
    if (context.json()) {
      std::cout << Json{{"store", common::PublicUri(place->store)},
                        {"checkpoints", all},
                        {"tiers", MoneyJson(*shelves, *prices)},
                        {"prices", {{"as_of", prices->as_of()}, {"currency", prices->currency()}}}}
                       .dump(1)
                << "\n";
      return absl::OkStatus();
    }
    std::cout << Table(rows);
    PrintMoney(*shelves, *prices);
    return absl::OkStatus();
  });
}

Json DetailsOf(const checkpoint::Manifest& manifest) {
  Json tensors = Json::array();
  for (const checkpoint::TensorInfo& tensor : manifest.tensors) {
    tensors.push_back({{"name", tensor.name}, {"shape", tensor.shape}});
  }
  return {{"format", manifest.format},
          {"planes", checkpoint::PlanesOf(manifest)},
          {"spec_digest", manifest.spec_digest},
          {"tensors", tensors}};
}

void AddShow(CLI::App& parent, Context& context) {
  CLI::App* verb = parent.add_subcommand("show", "Show one checkpoint: what it holds, why it stays, who pinned it");
  auto flags = AddPlace(verb, "JOB [CHECKPOINT]");
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    const auto place = PlaceOf(context, *flags, 0, 1);
    if (!place.ok()) return place.status();
    const auto shelves = ReadShelves(*place);
    if (!shelves.ok()) return shelves.status();
    for (const Shelf& shelf : *shelves) {
      for (const auto& one : shelf.checkpoints) {
        if (place->args.empty() ? !one.problem.empty() : one.name != place->args[0]) continue;
        Json json = JsonOf(shelf, one);
        json.update(DetailsOf(one.manifest));
        auto store = OpenStore(shelf.uri);
        if (const auto pin = store.ok() ? store->ReadPin(place->uid, one.name) : store.status(); pin.ok()) {
          json["pin"] = {{"why", pin->why}, {"when", pin->when}};
        }
        if (context.json()) {
          std::cout << json.dump(1) << "\n";
          return absl::OkStatus();
        }
        json["tensors"] = json["tensors"].size();
        for (const auto& [key, value] : json.items()) {
          std::string text = value.is_string() ? value.get<std::string>() : value.dump();
          if (key == "written") text = LocalTime(one.written);
          std::cout << "  " << key << std::string(key.size() < 16 ? 16 - key.size() : 1, ' ') << Printable(text)
                    << "\n";
        }
        return absl::OkStatus();
      }
    }
    return absl::NotFoundError("job " + place->job + " has no checkpoint " +
                               (place->args.empty() ? "that is whole" : place->args[0]));
  });
}

void AddVerify(CLI::App& parent, Context& context) {
  CLI::App* verb = parent.add_subcommand("verify", "Read every byte of a job's checkpoints and say which are whole");
  verb->footer(
      "In a bucket, parts of a multipart upload that a crash left behind are not seen here, but cost money: let a\n"
      "life-cycle rule of the bucket remove incomplete uploads after a day.");
  auto flags = AddPlace(verb, "JOB [CHECKPOINT...]");
  context.OnRun(verb, [flags, &context]() -> absl::Status {
    const auto place = PlaceOf(context, *flags, 0, SIZE_MAX);
    if (!place.ok()) return place.status();
    auto store = OpenStore(place->store);
    if (!store.ok()) return store.status();
    std::vector<std::string> names = place->args;
    if (names.empty()) {
      const auto found = store->ListNames(place->uid);
      if (!found.ok()) return found.status();
      for (const auto& name : *found) names.push_back(FormatName(name));
    }
    Json all = Json::array();
    int broken = 0, newer = 0;
    for (const std::string& name : names) {
      absl::Status status;
      {
        ProgressBar bar(context, name);
        status = store->Verify(place->uid, name, [&](int64_t done, int64_t total) { bar.Show(done, total); });
      }
      newer += checkpoint::IsOfNewerRelease(status) ? 1 : 0;
      broken += status.ok() || checkpoint::IsOfNewerRelease(status) ? 0 : 1;
      const std::string problem(status.message());
      all.push_back({{"name", name}, {"whole", status.ok()}, {"problem", problem}});
      if (!context.json()) std::cout << name << "  " << (status.ok() ? "whole" : Printable(problem)) << "\n";
    }
    if (context.json()) std::cout << Json{{"checkpoints", all}}.dump(1) << "\n";
    if (newer > 0) {
      return absl::FailedPreconditionError(std::to_string(newer) + " of " + std::to_string(names.size()) +
                                           " checkpoints were made by a newer release, which a restore waits for; " +
                                           std::to_string(broken) + " are not whole");
    }
    if (broken == 0) return absl::OkStatus();
    return absl::DataLossError(std::to_string(broken) + " of " + std::to_string(names.size()) +
                               " checkpoints are not whole; a restore passes over them");
  });
}

}  // namespace

void AddCheckpointLookVerbs(CLI::App& parent, Context& context) {
  AddList(parent, context);
  AddShow(parent, context);
  AddVerify(parent, context);
}

}  // namespace rekindle::cli
