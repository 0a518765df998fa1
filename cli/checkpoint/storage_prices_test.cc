#include "cli/checkpoint/storage_prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::cli {
namespace {

using ::testing::HasSubstr;

TEST(PricesTest, TheShippedTableCoversEveryStore) {
  const auto table = LoadPrices("");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->currency(), "USD");
  for (const char* uri : {"file:///x", "s3://b", "gs://b", "abfs://c@a.dfs.core.windows.net/p"}) {
    const auto* store = PriceOf(*table, uri, false);
    const auto* archive = PriceOf(*table, uri, true);
    ASSERT_TRUE(store != nullptr && archive != nullptr) << uri;
    EXPECT_LE(archive->gb_month(), store->gb_month());
    EXPECT_NE(store->source(), "");
  }
  EXPECT_EQ(PriceOf(*table, "ftp://x", false), nullptr);
  EXPECT_DOUBLE_EQ(MonthlyCost(*PriceOf(*table, "s3://b", false), 2'000'000'000), 0.046);
}

TEST(PricesTest, AUsersTableIsReadAndChecked) {
  const common::TemporaryFolder folder;
  const std::string path = folder.path() + "/prices.yaml";
  std::ofstream(path) << "as_of: \"2026-01-01\"\ncurrency: EUR\nstorage: [{scheme: s3, role: store, gb_month: 1}]\n";
  EXPECT_EQ(LoadPrices(path)->storage(0).gb_month(), 1);
  std::ofstream(path) << "storage: [{scheme: s3, role: cold, gb_month: 1}]\n";
  EXPECT_THAT(std::string(LoadPrices(path).status().message()), HasSubstr("role store or archive"));
  std::ofstream(path) << "storages: []\n";
  EXPECT_THAT(std::string(LoadPrices(path).status().message()), HasSubstr("storage"));
}

}  // namespace
}  // namespace rekindle::cli
