#include "worker/data/declared/data_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "worker/data/declared/image_record.h"
#include "worker/data/declared/limits.h"

namespace rekindle::data {
namespace {

using ::testing::ElementsAre;
using Data = v1::JobSpec::Data;

Data SomeTable() {
  Data data;
  data.mutable_table()->add_files("rows.parquet");
  data.mutable_table()->add_features("height");
  data.mutable_table()->set_target("kind");
  return data;
}

// Returns the fields that the check of the data's own kind refuses.
std::vector<std::string> Refused(const Data& data) {
  std::vector<std::string> fields;
  KindOf(data).check(data, [&](const std::string& field, const std::string&, const std::vector<std::string>&) {
    fields.push_back(field);
  });
  return fields;
}

TEST(DataKindsTest, EachIsAFieldOfTheJobFileAndDeliversAFormOfItsOwn) {
  std::set<train::SampleForm> forms;
  for (const DataKind* kind : DataKinds()) {
    EXPECT_NE(Data::descriptor()->FindFieldByName(kind->name), nullptr) << kind->name;
    EXPECT_TRUE(forms.insert(kind->form).second) << kind->name;
    EXPECT_EQ(&KindOf(kind->form), kind);
    // The coordinator cannot read the files, so each kind whose samples are not windows must declare how many values a
    // sample has.
    EXPECT_TRUE(train::IsWindow(kind->form) || kind->values != nullptr) << kind->name;
  }
}

TEST(DataKindsTest, FilesAreFoundInAListAndInASection) {
  Data text;
  text.add_text("a.txt");
  text.add_text("b.txt");
  const DataKind& kind = KindOf(text);
  EXPECT_STREQ(kind.name, "text");
  EXPECT_EQ(FilesField(kind), "spec.data.text");
  EXPECT_THAT(FilesOf(text, kind), ElementsAre("a.txt", "b.txt"));

  Data table = SomeTable();
  const DataKind& other = KindOf(table);
  EXPECT_STREQ(other.name, "table");
  EXPECT_EQ(FilesField(other), "spec.data.table.files");
  EXPECT_THAT(FilesOf(table, other), ElementsAre("rows.parquet"));
  EXPECT_TRUE(FilesOf(text, other).empty());
  EXPECT_FALSE(IsGiven(text, other));

  ForEachFile(&table, [](std::string& file) { file = "/data/" + file; });
  EXPECT_EQ(table.table().files(0), "/data/rows.parquet");
  EXPECT_FALSE(table.has_images()) << "nothing is made that was not there";
  EXPECT_STREQ(KindOf(Data()).name, "text");
}

TEST(DataKindsTest, ATableHasAtMostSoManyFeaturesAndNoColumnTwice) {
  Data data = SomeTable();
  EXPECT_TRUE(Refused(data).empty());
  data.mutable_table()->clear_features();
  for (int i = 0; i < kMostFeatures; ++i) data.mutable_table()->add_features("column" + std::to_string(i));
  EXPECT_TRUE(Refused(data).empty());
  data.mutable_table()->add_features("one more");
  EXPECT_THAT(Refused(data), ElementsAre("spec.data.table.features"));
  data = SomeTable();
  data.mutable_table()->set_target("height");
  EXPECT_THAT(Refused(data), ElementsAre("spec.data.table"));
}

TEST(DataKindsTest, SizesFollowFromTheDeclaration) {
  EXPECT_EQ(KindOf(train::SampleForm::kBytes).record_bytes, 1);
  EXPECT_EQ(KindOf(train::SampleForm::kTokenIds).record_bytes, 2);
  const DataKind& images = KindOf(train::SampleForm::kImages);
  EXPECT_EQ(images.record_bytes, 1 + 3 * 32 * 32);
  EXPECT_EQ(images.values(Data()), 3 * 32 * 32);
  EXPECT_EQ(KindOf(train::SampleForm::kRows).values(SomeTable()), 1);
}

}  // namespace
}  // namespace rekindle::data
