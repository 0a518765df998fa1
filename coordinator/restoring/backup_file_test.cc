// Tests that a backup is read as it was written, whatever pieces it comes in, and that any other file is refused with
// the reason.
#include "coordinator/restoring/backup_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

constexpr char kMagic[] = "rekindle-backup\n";

struct Read {
  absl::StatusOr<BackupHeader> header;
  std::string content;
};

Read ReadAll(std::string_view file, size_t piece = 1 << 20) {
  Read read{absl::UnknownError("not read"), ""};
  BackupReader reader([&](std::string_view content) {
    read.content += content;
    return absl::OkStatus();
  });
  for (size_t at = 0; at < file.size(); at += piece) {
    if (!reader.Take(file.substr(at, piece)).ok()) break;
  }
  read.header = reader.Finish();
  return read;
}

BackupHeader HeaderOf(const std::string& content) {
  BackupHeader header;
  header.identity = {std::string(32, 'a'), 3, 0x1234};
  header.taken_at = 1'700'000'000;
  header.release = "0.1.0";
  header.schema = 2;
  header.needs_release = "0.2.0";
  header.bytes = static_cast<int64_t>(content.size());
  header.xxh3_128 = common::Xxh3_128Hex(content);
  return header;
}

std::string BackupOf(const std::string& content) { return BackupPreamble(HeaderOf(content)) + content; }

// Makes a backup with the header line `line`, and with the right hash of that line.
std::string WithHeader(const std::string& line, const std::string& content = "x") {
  return absl::StrCat(kMagic, line, "\n", common::Xxh3_128Hex(line), "\n", content);
}

const std::string kContent = absl::StrCat("SQLite format 3", std::string(1, '\0'), "\n{}\n", std::string(60, 'z'));

TEST(BackupFile, IsReadAsItWasWrittenInPiecesOfAnySize) {
  const std::string file = BackupOf(kContent);
  for (size_t piece = 1; piece <= file.size(); ++piece) {
    const Read read = ReadAll(file, piece);
    ASSERT_TRUE(read.header.ok()) << piece << ": " << read.header.status();
    EXPECT_EQ(read.content, kContent);
    EXPECT_EQ(read.header->identity, HeaderOf(kContent).identity);
    EXPECT_EQ(read.header->taken_at, 1'700'000'000);
    EXPECT_EQ(read.header->release, "0.1.0");
    EXPECT_EQ(read.header->schema, 2);
    EXPECT_EQ(read.header->needs_release, "0.2.0");
    EXPECT_EQ(read.header->bytes, static_cast<int64_t>(kContent.size()));
  }
}

TEST(BackupFile, SaysWhatItIsInItsFirstLines) {
  const std::string text = BackupPreamble(HeaderOf(kContent));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("rekindle-backup\n{\"format\":1,\"needs_release\":\"0.2.0\",\"cluster\":\""));
}

TEST(BackupFile, EveryTruncationIsFound) {
  const std::string file = BackupOf(kContent);
  for (size_t length = 0; length < file.size(); ++length) {
    const absl::Status status = ReadAll(file.substr(0, length)).header.status();
    const bool nothing = length < std::string(kMagic).size();
    EXPECT_EQ(status.code(), nothing ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kDataLoss) << length;
    EXPECT_THAT(std::string(status.message()), HasSubstr(nothing ? "is no backup" : "cut off")) << length;
  }
}

TEST(BackupFile, EveryFlippedBitIsFound) {
  const std::string file = BackupOf(kContent);
  for (size_t at = 0; at < file.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = file;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const absl::Status status = ReadAll(flipped).header.status();
      const bool magic = at < std::string(kMagic).size();
      EXPECT_EQ(status.code(), magic ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kDataLoss)
          << at << ": " << status;
    }
  }
}

TEST(BackupFile, BytesAfterItsEndAreFound) {
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{1} << 20}) {
    const Read read = ReadAll(BackupOf(kContent) + "x", piece);
    EXPECT_EQ(read.header.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(read.header.status().message()), HasSubstr("goes on after its end"));
  }
}

TEST(BackupFile, NothingElseIsOne) {
  for (const std::string& file : {std::string(), std::string("\n"), std::string(100'000, '\0'), kContent,
                                  std::string("rekindle-backuq\n{}"), std::string("rekindle-backup {}")}) {
    const absl::Status status = ReadAll(file).header.status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
}

TEST(BackupFile, AHeaderIsBounded) {
  for (const size_t piece : {size_t{1}, size_t{4096}, size_t{1} << 20}) {
    const Read read = ReadAll(kMagic + std::string(kMaxBackupHeaderBytes + 1, '{'), piece);
    EXPECT_THAT(std::string(read.header.status().message()), HasSubstr("does not end")) << piece;
  }
  const Read endless = ReadAll(kMagic + std::string(50 << 20, 'x'));
  EXPECT_EQ(endless.header.status().code(), absl::StatusCode::kDataLoss);
  std::string line = BackupPreamble(HeaderOf("x"));
  line = line.substr(std::string(kMagic).size());
  line = line.substr(0, line.find('\n'));
  line.insert(1, std::string(kMaxBackupHeaderBytes - line.size(), ' '));
  EXPECT_TRUE(ReadAll(WithHeader(line)).header.ok()) << "as long as it may be";
  EXPECT_FALSE(ReadAll(WithHeader(line + " ")).header.ok());
}

TEST(BackupFile, ImpossibleHeadersAreRefused) {
  const std::string identity = common::Describe(HeaderOf("x").identity);
  const auto line = [&](const std::string& bytes, const std::string& schema = "2", const std::string& taken_at = "1") {
    return absl::StrCat(R"({"format":1,"cluster":")", identity, R"(","taken_at":)", taken_at, R"(,"schema":)", schema,
                        R"(,"bytes":)", bytes, R"(,"xxh3_128":")", common::Xxh3_128Hex("x"), "\"}");
  };
  ASSERT_TRUE(ReadAll(WithHeader(line("1"))).header.ok());
  for (const char* bytes : {"0", "-1", "1.5", "1e3", "\"1\"", "null", "[]", "18446744073709551615",
                            "9223372036854775808", "99999999999999999999999"}) {
    EXPECT_EQ(ReadAll(WithHeader(line(bytes))).header.status().code(), absl::StatusCode::kDataLoss) << bytes;
  }
  EXPECT_FALSE(ReadAll(WithHeader(line("1", "-1"))).header.ok());
  EXPECT_FALSE(ReadAll(WithHeader(line("1", "2147483648"))).header.ok());
  EXPECT_FALSE(ReadAll(WithHeader(line("1", "2", "-1"))).header.ok());
  for (const char* text : {"", "{}", "[]", "1", "{\"format\":0}", "{\"format\":1}", "{\"format\":true}",
                           "{\"format\":1,\"format\":1}", "\xff", "{\"format\":1,\"cluster\":\"x/1-2\"}"}) {
    EXPECT_EQ(ReadAll(WithHeader(text)).header.status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

TEST(BackupFile, AHugeSizeIsOnlyASizeThatIsNotThere) {
  BackupHeader header = HeaderOf("x");
  header.bytes = std::numeric_limits<int64_t>::max();
  const Read read = ReadAll(BackupPreamble(header) + "x");
  EXPECT_THAT(std::string(read.header.status().message()), HasSubstr("1 of 9223372036854775807 bytes are there"));
}

TEST(BackupFile, ANewerFormatNamesTheReleaseToInstall) {
  const absl::Status known =
      ReadAll(WithHeader(R"({"format":3,"needs_release":"7.1.0\u001b[2J","more":{"than":["that"]}})")).header.status();
  EXPECT_EQ(known.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(known.message()), HasSubstr("(format 3, this one reads up to 2): install release 7.1.0?[2J"));
  const absl::Status unknown = ReadAll(WithHeader(R"({"format":2147483647})")).header.status();
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("install the release that made it"));
}

TEST(BackupFile, BundlesFollowTheDatabase) {
  BackupHeader header = HeaderOf(kContent);
  header.bundles = 2;
  const std::string first(64, 'a'), second(64, 'b');
  const std::string file =
      absl::StrCat(BackupPreamble(header), kContent, BundleLine(first, 3), "\nxy", BundleLine(second, 1), "z");
  EXPECT_THAT(file, HasSubstr("\"format\":2,"));
  EXPECT_THAT(BackupPreamble(HeaderOf(kContent)), HasSubstr("\"format\":1,")) << "older releases read it";
  for (const auto& [schema, needed] : {std::pair{"", "0.2.0"}, {"0.1.9", "0.2.0"}, {"0.10.0", "0.10.0"}}) {
    header.needs_release = schema;
    EXPECT_THAT(BackupPreamble(header), HasSubstr(absl::StrCat("\"needs_release\":\"", needed, "\"")));
  }
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{1} << 20}) {
    std::string content;
    std::map<std::string, std::string> bundles;
    BackupReader reader(
        [&](std::string_view more) {
          content += more;
          return absl::OkStatus();
        },
        [&](const std::string& address, const std::string& packed) {
          bundles[address] = packed;
          return absl::OkStatus();
        });
    for (size_t at = 0; at < file.size(); at += piece) {
      ASSERT_TRUE(reader.Take(std::string_view(file).substr(at, piece)).ok());
    }
    ASSERT_TRUE(reader.Finish().ok());
    EXPECT_EQ(content, kContent);
    EXPECT_EQ(bundles, (std::map<std::string, std::string>{{first, "\nxy"}, {second, "z"}}));
  }
  for (size_t bytes = 0; bytes < file.size(); ++bytes) {
    EXPECT_FALSE(ReadAll(file.substr(0, bytes)).header.ok()) << bytes << " bytes";
  }
  EXPECT_FALSE(ReadAll(file + "x").header.ok());
  for (const std::string& line :
       {std::string("../../etc 3\n"), first + " 0\n", first + " 99999999999\n", std::string(200, 'a'), first + "\n"}) {
    EXPECT_EQ(ReadAll(absl::StrCat(BackupPreamble(header), kContent, line)).header.status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(BackupFile, WhereTheContentCannotGoItEnds) {
  int taken = 0;
  BackupReader reader([&](std::string_view) {
    ++taken;
    return absl::ResourceExhaustedError("full");
  });
  EXPECT_EQ(reader.Take(BackupOf(kContent)).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(reader.Take("x").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(reader.Finish().status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(taken, 1);
}

}  // namespace
}  // namespace rekindle::coordinator
