#include "checkpoint/format/planes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>

#include "checkpoint/format/manifest.h"
#include "checkpoint/format/planes_layout.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/testing/planes_testing.h"
#include "checkpoint/testing/python_testing.h"
#include "common/digest/hash.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::HasSubstr;

constexpr Precision kAll[] = {Precision::kExact, Precision::kFp16, Precision::kBf16};

void ExpectNamed(const std::vector<uint8_t>& file, const WrittenPlane& written) {
  EXPECT_EQ(written.xxh3, file.empty() ? "" : common::Xxh3_128Hex(file.data(), file.size()));
}

// Checks that `read` has the values of `state` in `range`, and is unchanged elsewhere.
void ExpectRange(const TestState& read, const TestState& state, const ShardRange& range) {
  TestState expected(state.view().total);
  const auto copy = [&](std::vector<float>& to, const std::vector<float>& from) {
    std::copy(from.begin() + range.begin, from.begin() + range.end, to.begin() + range.begin);
  };
  copy(expected.weights, state.weights);
  copy(expected.first_moment, state.first_moment);
  copy(expected.second_moment, state.second_moment);
  EXPECT_TRUE(read == expected) << range.begin << " " << range.end;
}

TEST(PlanesTest, ExactGivesEveryBitBack) {
  const int64_t total = 11000;
  for (const TestState& state : {TestState::Random(total, 1), Trained(total, 2), TestState(total)}) {
    for (int64_t begin : {0, 1, 100, 1024}) {
      for (int64_t n : {1, 2, 15, 16, 17, 1023, 1024, 1025, 4095, 4096, 4097, 9001}) {
        const ShardRange range{.begin = begin, .end = begin + n};
        const PlaneFiles files = WriteFiles(state, range, Precision::kExact);
        ExpectNamed(files.plane0, files.written.plane0);
        ExpectNamed(files.plane1, files.written.plane1);
        const PlaneBytes bytes = SizeOfPlanes(total, range, Precision::kExact, files.written.exceptions);
        EXPECT_EQ(bytes.plane0, files.written.plane0.bytes);
        EXPECT_EQ(bytes.plane1, files.written.plane1.bytes);
        TestState read(total);
        const auto got = ReadPlanes(files.plane0, files.plane1, read.writable());
        ASSERT_TRUE(got.ok()) << got.status();
        EXPECT_TRUE(got->exact);
        EXPECT_EQ(got->range, range);
        ExpectRange(read, state, range);
      }
    }
  }
}

TEST(PlanesTest, PlaneZeroAloneIsNear) {
  const int64_t total = 5000;
  const TestState state = Trained(total, 3);
  for (Precision precision : kAll) {
    const PlaneFiles files = WriteFiles(state, {.begin = 0, .end = total}, precision);
    ExpectNamed(files.plane0, files.written.plane0);
    EXPECT_EQ(files.plane1.empty(), precision != Precision::kExact);
    TestState read(total);
    const auto got = ReadPlanes(files.plane0, {}, read.writable());
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_FALSE(got->exact);
    const bool bf16 = precision == Precision::kBf16;
    for (size_t i = 0; i < static_cast<size_t>(total); ++i) {
      const double weight = state.weights[i];
      // With FP16, weights below 2^-29 of the largest weight of their block have only a bounded absolute error.
      const double error = std::abs(weight) * (bf16 ? 0x1p-8 : 0x1p-11) + (bf16 ? 0 : 0x1p-40);
      ASSERT_LE(std::abs(read.weights[i] - weight), error) << i;
      ASSERT_LE(std::abs(read.first_moment[i] - state.first_moment[i]), std::abs(state.first_moment[i]) * 0x1p-8);
      ASSERT_LE(std::abs(read.second_moment[i] - state.second_moment[i]), state.second_moment[i] * 0x1p-8);
    }
  }
}

TEST(PlanesTest, SizesAreBounded) {
  const ShardRange largest{.begin = kMaxShardElements, .end = 2 * kMaxShardElements};
  const int64_t total = kMaxStateElements, n = kMaxShardElements;
  const PlaneBytes most = SizeOfPlanes(total, largest, Precision::kExact, n);
  EXPECT_LE(most.plane0, kMaxShardBytes);
  EXPECT_LE(most.plane1, kMaxShardBytes);
  EXPECT_LE(static_cast<double>(most.plane0), 0.51 * 12 * static_cast<double>(n));
  EXPECT_EQ(SizeOfPlanes(total, largest, Precision::kBf16, n).plane1, 0);
  // A header with the largest possible numbers fits before the data of a plane file.
  PlaneHead head{.range = {.begin = total - n, .end = total}, .total = total, .exceptions = n};
  for (Precision precision : kAll) {
    for (head.plane = 0; head.plane < 2; ++head.plane) {
      head.precision = precision;
      const auto header = EncodeSafetensorsHeader(MetadataOf(head), TensorsOf(head), kPlaneDataOffset);
      ASSERT_TRUE(header.ok()) << header.status();
      EXPECT_EQ(static_cast<int64_t>(header->size()), kPlaneDataOffset);
    }
  }
}

TEST(PlanesTest, EveryWeightMayBeAnException) {
  for (int64_t n : {3, 1024, 3001, 9999}) {
    TestState state(n);
    for (size_t i = 0; i < state.weights.size(); ++i) state.weights[i] = i % 1024 == 0 ? 1.0f : 1.2345e-30f;
    const PlaneFiles files = WriteFiles(state, {.begin = 0, .end = n}, Precision::kExact);
    EXPECT_EQ(files.written.exceptions, n - (n + 1023) / 1024);
    ExpectNamed(files.plane1, files.written.plane1);
    TestState read(n);
    ASSERT_TRUE(ReadPlanes(files.plane0, files.plane1, read.writable()).ok());
    EXPECT_TRUE(read == state);
  }
}

TEST(PlanesTest, TooLittleMemoryIsTold) {
  const int64_t n = 4000;
  TestState state = Trained(n, 5);
  const ShardRange range{.begin = 0, .end = n};
  const PlaneFiles files = WriteFiles(state, range, Precision::kExact);
  ASSERT_GT(files.written.exceptions, 2);
  std::vector<uint8_t> plane0 = files.plane0, plane1 = files.plane1;
  const auto write = [&](size_t less0, size_t less1) {
    return WritePlanes(state.view(), range, Precision::kExact, std::span(plane0).first(plane0.size() - less0),
                       std::span(plane1).first(plane1.size() - less1));
  };
  ASSERT_TRUE(write(0, 0).ok());
  // The size of the memory that WritePlanes gets does not change what it writes.
  EXPECT_EQ(plane1, files.plane1);
  EXPECT_TRUE(absl::IsResourceExhausted(write(0, 1).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(write(0, 8 * static_cast<size_t>(files.written.exceptions)).status()));
  EXPECT_THAT(std::string(write(0, 9).status().message()), HasSubstr(std::to_string(plane1.size())));
  EXPECT_TRUE(absl::IsInvalidArgument(write(0, 8 * static_cast<size_t>(files.written.exceptions) + 1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(write(1, 0).status()));
  for (const auto& [begin, end] : {std::pair{-1, 50}, {50, 50}, {60, 50}, {50, 4001}}) {
    EXPECT_FALSE(WritePlanes(state.view(), {.begin = begin, .end = end}, Precision::kBf16, plane0, {}).ok());
  }
}

TEST(PlanesTest, CountsNanAndInfinityEverywhere) {
  TestState state = Trained(3000, 6);
  EXPECT_EQ(WriteFiles(state, {.begin = 0, .end = 3000}, Precision::kExact).written.nonfinite, 0);
  state.weights[2999] = std::numeric_limits<float>::quiet_NaN();
  state.first_moment[0] = std::numeric_limits<float>::infinity();
  state.second_moment[1500] = -std::numeric_limits<float>::infinity();
  for (Precision precision : kAll) {
    EXPECT_EQ(WriteFiles(state, {.begin = 0, .end = 3000}, precision).written.nonfinite, 3);
    EXPECT_EQ(WriteFiles(state, {.begin = 1, .end = 2999}, precision).written.nonfinite, 1);
  }
}

TEST(PlanesTest, AnyNumberOfWritersGivesTheSameState) {
  const int64_t total = 9 * kBlockElements + 4321;
  const TestState state = TestState::Random(total, 3);
  for (int ranks = 1; ranks <= 5; ++ranks) {
    TestState read(total);
    for (const ShardRange& range : CutShards(total, ranks)) {
      const PlaneFiles files = WriteFiles(state, range, Precision::kExact);
      ASSERT_TRUE(ReadPlanes(files.plane0, files.plane1, read.writable()).ok());
    }
    EXPECT_TRUE(read == state) << ranks;
  }
}

TEST(PlanesTest, ThreadsShareNothing) {
  const int64_t total = 40000;
  const TestState state = TestState::Random(total, 7);
  const auto shards = SmallShards(total, 4);
  std::vector<PlaneFiles> files(shards.size());
  TestState read(total);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < shards.size(); ++i) {
    threads.emplace_back([&, i] {
      files[i] = WriteFiles(state, shards[i], Precision::kExact);
      EXPECT_TRUE(ReadPlanes(files[i].plane0, files[i].plane1, read.writable()).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(read == state);
}

TEST(PlanesTest, PrecisionsHaveNames) {
  for (Precision precision : kAll) EXPECT_EQ(*ParsePrecision(PrecisionName(precision)), precision);
  EXPECT_THAT(std::string(ParsePrecision("fp32").status().message()), HasSubstr("exact, fp16, bf16"));
}

// Reads a plane file as docs/ describes it for other languages, with Python's standard library. If the safetensors
// package is installed, the package reads the file as well.
constexpr char kPython[] = R"(
def tensor(name, dtype, code, shape):
    t = head[name]
    assert t["dtype"] == dtype and t["shape"] == [shape], t
    return struct.unpack("<%d%s" % (shape, code), data[slice(*t["data_offsets"])])
half = tensor("weights", "F16", "e", 2051)
exponent = tensor("weights_exponent", "I8", "b", 3)
weights = [h * 2.0 ** exponent[i // 1024] for i, h in enumerate(half)]
bits = tensor("second_moment", "BF16", "H", 2051)
moment = [struct.unpack("<f", struct.pack("<I", b << 16))[0] for b in bits]
try:
    import numpy
    from safetensors import safe_open
except ImportError:
    pass
else:
    with safe_open(sys.argv[1], "numpy") as file:
        assert file.metadata()["precision"] == "exact" and file.metadata()["plane"] == "0"
        loaded = file.get_tensor("weights").astype(numpy.float64)
        scale = numpy.exp2(file.get_tensor("weights_exponent").astype(numpy.float64)).repeat(1024)[:len(loaded)]
        assert (loaded * scale == weights).all()
print(sum(weights), sum(moment))
)";

TEST(PlanesTest, PythonReadsPlaneZero) {
  TestState state(2051);
  // The weights are values that 16 bits can hold exactly, so that plane 0 alone has their exact sum. Their blocks have
  // different exponents.
  for (int i = 0; i < 2051; ++i) {
    state.weights[static_cast<size_t>(i)] = std::ldexp(static_cast<float>(i % 1024 - 500), i / 1024 * 10);
    state.second_moment[static_cast<size_t>(i)] = static_cast<float>(i % 128) / 4;
  }
  const PlaneFiles files = WriteFiles(state, {.begin = 0, .end = 2051}, Precision::kExact);
  const auto out = ReadInPython({files.plane0.begin(), files.plane0.end()}, kPython);
  if (!out.has_value()) GTEST_SKIP() << "python3 is not installed";
  double weights = 0, moment = 0;
  for (float weight : state.weights) weights += weight;
  for (float value : state.second_moment) moment += value;
  char expected[64];
  std::snprintf(expected, sizeof(expected), "%.1f %.2f\n", weights, moment);
  EXPECT_EQ(*out, expected);
}

}  // namespace
}  // namespace rekindle::checkpoint
