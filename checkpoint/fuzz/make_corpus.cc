// Writes the inputs with which fuzzing starts: corpus/TARGET/NAME. The files are equal on every machine, so a
// difference in git is a change of a format.
//
//   checkpoint_make_corpus checkpoint/fuzz/corpus
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "checkpoint/format/planes.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/format/state_shards.h"
#include "checkpoint/fuzz/framed.h"
#include "checkpoint/testing/framed_job_file_testing.h"
#include "checkpoint/testing/manifest_testing.h"
#include "checkpoint/testing/testing.h"
#include "common/bundle/bundle_writer.h"

namespace rekindle::checkpoint {
namespace {

class Corpus {
 public:
  Corpus(const std::string& root, const std::string& target) : folder_(root + "/" + target) {
    std::filesystem::create_directories(folder_);
  }
  void Add(const std::string& name, const std::string& input) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << input;
  }

 private:
  const std::string folder_;
};

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// Returns a state with weights from -2 to 2 and a few exceptions. The values are made without rounding and without
// libraries, so that their bits are the same everywhere.
TestState StateOf(int64_t total) {
  TestState state(total);
  for (size_t i = 0; i < static_cast<size_t>(total); ++i) {
    state.weights[i] = i % 17 == 5 ? 0x1p-70f : (static_cast<float>(i % 64) - 32) / 16;
    state.first_moment[i] = static_cast<float>(i) / 1024;
    state.second_moment[i] = static_cast<float>(i * i) / 65536;
  }
  return state;
}

void MakeManifests(Corpus corpus) {
  Manifest manifest = SomeManifest();
  manifest.validation_loss = 2.5;
  const std::string whole = EncodeManifest(manifest);
  const std::string body = BodyOf(manifest);
  corpus.Add("valid", whole);
  corpus.Add("valid-body", body);
  corpus.Add("truncated", whole.substr(0, whole.size() / 2));
  corpus.Add("truncated-body", body.substr(0, body.size() / 2));
  corpus.Add("checksum", Replaced(whole, "1200", "1201"));
  corpus.Add("no-shards", body.substr(0, body.find(R"("shards":)")) + R"("shards":[]})");
  corpus.Add("path-as-hash", Replaced(body, R"("xxh3":")", R"("xxh3":"../../x)"));
  corpus.Add("format-1", Replaced(body, R"("format":2)", R"("format":1)"));
  corpus.Add("format-3", Replaced(body, R"("format":2)", R"("format":3,"needs_release":"9.0.0","parts":[[]])"));
  corpus.Add("unknown-field", Replaced(body, R"("plane":1)", R"("plane":1,"\u0007\n":1)"));
  corpus.Add("huge-count", Replaced(body, R"("count":3)", R"("count":2147483647)"));
  corpus.Add("plane-2", Replaced(body, R"("plane":1)", R"("plane":2)"));
  corpus.Add("plane-1-of-some", Replaced(body, R"("plane":1)", R"("plane":0)"));
  corpus.Add("huge-tensor", Replaced(body, "[256,8]", "[281474976710656,281474976710656,281474976710656]"));
  corpus.Add("infinite-loss", Replaced(body, "2.25", "1e400"));
  corpus.Add("huge-number", Replaced(body, "1200", "18446744073709551616"));
  corpus.Add("field-twice", Replaced(body, R"("step":1200)", R"("step":1200,"step":1200)"));
  corpus.Add("deep-scalars", Replaced(body, R"({\"cursor\":4800,\"exponents\":[1,-2]})", std::string(200, '[')));
  corpus.Add("not-utf-8", Replaced(body, "node-a_0", "node\xff\xc0\x80"));
  corpus.Add("name", "7-1200-node-a_0");
  const auto record = EncodeShardRef(manifest.shards[1]);
  corpus.Add("record", std::string(record.begin(), record.end()));
}

void MakeJobFiles(Corpus corpus) {
  const std::string inner = InnerOf("job", R"("job":{"name":"n","status":{"step":7,"cost":{"spent":1.5}}})");
  const std::string whole = FrameJobFile(inner);
  corpus.Add("valid", whole);
  corpus.Add("valid-inner", inner);
  corpus.Add("truncated", whole.substr(0, whole.size() / 2));
  corpus.Add("checksum", Replaced(whole, "1.5", "2.5"));
  corpus.Add("of-another", Replaced(inner, R"("job_uid":"job")", R"("job_uid":"../job")"));
  corpus.Add("format-2", Replaced(inner, R"("format":1)", R"("format":2,"needs_release":"9.0.0","parts":[[]])"));
  corpus.Add("format-0", Replaced(inner, R"("format":1)", R"("format":0)"));
  corpus.Add("huge-format", Replaced(inner, R"("format":1)", R"("format":18446744073709551616)"));
  corpus.Add("release-with-controls", Replaced(inner, R"("format":1)", R"("format":9,"needs_release":"\u001b[2J\n"})"));
  corpus.Add("field-twice", Replaced(inner, R"("format":1)", R"("format":1,"format":1)"));
  corpus.Add("deep", Replaced(inner, "1.5", std::string(200, '[')));
  corpus.Add("not-utf-8", Replaced(inner, R"("name":"n")", "\"name\":\"\xff\xc0\x80\""));
}

void MakeSafetensors(Corpus corpus) {
  const std::map<std::string, std::string> metadata = {{"format", "pt"}, {"total", "40"}};
  const std::vector<TensorEntry> tensors = {{.name = "weights", .dtype = "F32", .shape = {20}},
                                            {.name = "moment", .dtype = "F32", .shape = {20}},
                                            {.name = "index", .dtype = "U8", .shape = {4, 2}}};
  const std::string file = EncodeSafetensorsHeader(metadata, tensors).value() + std::string(168, 'x');
  std::string data;
  const std::string json = Unframed({file.begin(), file.end()}, &data);
  const auto add = [&](const char* name, const std::string& head) { corpus.Add(name, head + "\n" + data); };
  corpus.Add("file", file);
  corpus.Add("truncated-file", file.substr(0, 100));
  corpus.Add("endless-header", std::string(8, '\xff') + "{}");
  add("valid", json);
  corpus.Add("truncated", json + "\n" + data.substr(0, 100));
  add("number-as-metadata", Replaced(json, R"("total":"40")", R"("total":40)"));
  add("overlap", Replaced(json, "[80,160]", "[0,80]"));
  add("overflow", Replaced(json, R"("shape":[20])", R"("shape":[4611686018427387904,4])"));
  add("zeroes", Replaced(json, R"("shape":[20])", R"("shape":[0,18446744073709551615])"));
  add("negative", Replaced(json, R"("shape":[20])", R"("shape":[-20])"));
  add("many-dimensions", Replaced(json, R"("shape":[20])", R"("shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,20])"));
  add("tensor-twice", Replaced(json, "moment", "weights"));
  corpus.Add("other-types", R"({"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},)"
                            R"("b":{"dtype":"I64","shape":[],"data_offsets":[12,20]},"__metadata__":{"format":"pt"}})"
                            "\n01234567890123456789");
}

void MakePlanes(Corpus corpus) {
  const TestState state = StateOf(60);
  const ShardRange range{.begin = 3, .end = 50};
  for (Precision precision : {Precision::kExact, Precision::kFp16, Precision::kBf16}) {
    const PlaneBytes most = SizeOfPlanes(60, range, precision, range.end - range.begin);
    std::vector<uint8_t> plane0(static_cast<size_t>(most.plane0)), plane1(static_cast<size_t>(most.plane1));
    const auto written = WritePlanes(state.view(), range, precision, plane0, plane1);
    if (!written.ok()) std::abort();
    plane0.resize(static_cast<size_t>(written->plane0.bytes));
    plane1.resize(static_cast<size_t>(written->plane1.bytes));
    std::string data0, data1;
    const std::string json0 = Unframed(plane0, &data0), json1 = plane1.empty() ? "" : Unframed(plane1, &data1);
    const std::string length = {static_cast<char>(data0.size() & 0xff), static_cast<char>(data0.size() >> 8)};
    const auto add = [&](const std::string& name, const std::string& a, const std::string& b) {
      corpus.Add(PrecisionName(precision) + name, a + "\n" + b + "\n" + length + data0 + data1);
    };
    add("", json0, json1);
    add("-other-total", Replaced(json0, R"("total":"60")", R"("total":"61")"), json1);
    add("-other-range", Replaced(json0, R"("begin":"3")", R"("begin":"4")"), json1);
    if (plane1.empty()) continue;
    add("-plane-0-alone", json0, "");
    add("-plane-1-alone", json1, "");
    add("-swapped", json1, json0);
    add("-exceptions", json0, Replaced(json1, R"("shape":[3])", R"("shape":[281474976710656])"));
    corpus.Add(PrecisionName(precision) + "-truncated", json0 + "\n" + json1 + "\n" + length + data0);
    // The fuzz input `-index` has a malformed shard: the index of an exception is beyond the end of the shard's range.
    std::string behind = data1;
    behind.replace(6 * static_cast<size_t>(range.end - range.begin) + 2, 4, "\xff\xff\xff\x7f");
    corpus.Add(PrecisionName(precision) + "-index", json0 + "\n" + json1 + "\n" + length + data0 + behind);
  }
}

void MakeJson(Corpus corpus) {
  corpus.Add("valid", R"({"a":[1,-2,3.5,true,null,"text \u00e9 \ud83d\ude00"],"b":{"c":{}}})");
  corpus.Add("truncated", R"({"a":[1,2)");
  corpus.Add("key-twice", R"({"a":1,"a":2})");
  corpus.Add("deep-arrays", std::string(500, '['));
  corpus.Add("deep-objects", [] {
    std::string deep;
    for (int i = 0; i < 100; ++i) deep += R"({"a":)";
    return deep;
  }());
  corpus.Add(
      "many", "[0" + [] {
        std::string many;
        for (int i = 0; i < 1500; ++i) many += ",0";
        return many;
      }() + "]");
  corpus.Add("numbers", "[0,-0,1e308,1e-400,18446744073709551615,-9223372036854775808,9223372036854775808,0.1]");
  corpus.Add("too-large", "[1e999]");
  corpus.Add("half-surrogate", R"(["\ud800"])");
  corpus.Add("not-utf-8", "[\"\xff\xc0\x80\"]");
  corpus.Add("nul", std::string("[0]\0", 4));
  corpus.Add("two", "{}{}");
  corpus.Add("mark", "\xef\xbb\xbf{}");
}

// The inputs are in the notation of bundle_fuzz.cc.
void MakeBundles(Corpus corpus) {
  using common::PlainFile;
  const auto plain = [](const std::vector<PlainFile>& files) {
    return common::PlainBundle(files).substr(common::kBundleMagic.size());
  };
  const auto packed = [](const PlainFile& file) {
    common::BundleWriter writer;
    const common::BundleEntry entry{file.name, file.executable, static_cast<int64_t>(file.content.size())};
    if (!writer.Begin(entry).ok() || !writer.Content(file.content).ok()) std::abort();
    return writer.Finish()->packed;
  };
  const std::string good = plain({{"a.py", "import b\n"}, {"b/run.sh", "#!/bin/sh\n", true}, {"b/z", ""}});
  const std::string size("\x09\0\0\0\0\0\0\0", 8);
  corpus.Add("valid", good);
  corpus.Add("none", plain({}));
  corpus.Add("truncated", good.substr(0, good.size() - 7));
  corpus.Add("after-end", good + "x");
  corpus.Add("twice", plain({{"a", "1"}, {"a", "2"}}));
  corpus.Add("order", plain({{"b", "1"}, {"a", "2"}}));
  corpus.Add("case", plain({{"A/x", "1"}, {"a/y", "2"}}));
  corpus.Add("file-and-folder", plain({{"a", ""}, {"a/b", ""}}));
  corpus.Add("absolute", plain({{"/etc/passwd", "x"}}));
  corpus.Add("above", plain({{"../a", "x"}}));
  std::string deep = "a";
  for (int i = 1; i < common::kMaxBundleDepth; ++i) deep += "/a";
  corpus.Add("deep", plain({{deep, "x"}}));
  corpus.Add("too-deep", plain({{deep + "/a", "x"}}));
  corpus.Add("long-name", plain({{std::string(255, 'a'), "x"}}));
  std::string link = plain({{"a", "/etc"}});
  link[3] = 2;
  corpus.Add("link", link);
  corpus.Add("huge", Replaced(good, size, std::string("\0\0\0\0\0\1\0\0", 8)));
  corpus.Add("negative", Replaced(good, size, std::string(8, '\xff')));
  std::vector<PlainFile> many;
  for (int i = 0; i < 300; ++i) many.push_back({absl::StrFormat("%05d", i), ""});
  corpus.Add("many", plain(many));
  const std::string whole = packed({"a.py", "import b\n"});
  corpus.Add("packed", whole);
  corpus.Add("packed-truncated", whole.substr(0, whole.size() - 5));
  corpus.Add("packed-twice", whole + whole);
  corpus.Add("packed-zeros", packed({"a", std::string(3'000'000, '\0')}));
}

// Returns the bytes of a number in little-endian order.
std::string Little(uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// The inputs are in the notation of child_protocol_fuzz.cc. They have the numbers of the protocol, and not its code, so
// that a change of the protocol shows here.
void MakeConversations(Corpus corpus) {
  constexpr int kRaw = 0, kReady = 101, kGradients = 103, kDone = 104, kEvaluated = 105, kPong = 106, kFailed = 107,
                kHashed = 109;
  const auto packet = [](int type, const std::string& body, int flags = 0) {
    return Little(body.size(), 2) + Little(static_cast<uint64_t>(type), 2) + Little(static_cast<uint64_t>(flags), 2) +
           body;
  };
  const auto gradients = [&](const std::vector<int>& parameters) {
    std::string body = Little(7, 8) + Little(parameters.size(), 4);
    for (const int parameter : parameters) body += Little(static_cast<uint64_t>(parameter), 4);
    return packet(kGradients, body);
  };
  const std::string half = Little(0x3fe0000000000000, 8);
  const auto done = [&](int64_t count) {
    const std::string numbers = Little(static_cast<uint64_t>(count), 8) + Little(77, 8);
    return packet(kDone, Little(7, 8) + half + numbers + half + half + Little(78, 8));
  };
  const std::string description =
      R"({"protocol":1,"pid":5,"python":"3.11.2","torch":"2.11.0","layout":[)"
      R"({"name":"weight","shape":[4,3],"dtype":"float32","kind":"parameter","offset":0,"size":12,"decay":true},)"
      R"({"name":"mean","shape":[],"dtype":"float32","kind":"buffer",)"
      R"("offset":12,"size":1,"decay":false,"rule":"mean"},)"
      R"({"name":"calls","shape":[1],"dtype":"int64","kind":"buffer",)"
      R"("offset":13,"size":1,"decay":false,"rule":"mean"}],)"
      R"("frozen":[{"name":"teacher","shape":[10,2],"dtype":"bfloat16"}],"samples":100,"validation_samples":0,)"
      R"("groups":[{"pattern":"*.bias","options":{"weight_decay":0.0}}],"couples_samples":false,"digest":"abc"})";
  const std::string ready = packet(kReady, description);
  corpus.Add("micro-batch", ready + gradients({0}) + gradients({1, 2}) + done(4));
  corpus.Add("again", ready + gradients({0}) + gradients({0}) + gradients({0, 1, 2}) + done(4));
  corpus.Add("lacks-a-buffer", ready + gradients({0, 1}) + done(4));
  corpus.Add("of-no-parameter", ready + gradients({0, 3}) + gradients({}));
  corpus.Add("huge-number", ready + packet(kGradients, Little(7, 8) + Little(0xffffffff, 4)));
  corpus.Add("counts", done(0) + done(-1) + done(int64_t{1} << 40) + done(int64_t{1} << 62));
  corpus.Add("overlaps", packet(kReady, Replaced(description, R"("offset":12)", R"("offset":11)")));
  corpus.Add("negative", packet(kReady, Replaced(description, "[4,3]", "[-4,-3]")));
  corpus.Add("wide", packet(kReady, Replaced(description, "[4,3]", "[4294967296,4294967296]")));
  corpus.Add("fractions", packet(kReady, Replaced(description, "100", "1e300")));
  corpus.Add("deep", packet(kReady, Replaced(description, "[4,3]", std::string(2000, '['))));
  corpus.Add("twice", packet(kReady, Replaced(description, "calls", "mean")));
  corpus.Add("answers", packet(kEvaluated, Little(7, 8) + half + Little(4, 8)) +
                            packet(kPong, Little(1, 8) + half + Little(3, 8)) +
                            packet(kPong, Little(1, 8) + half + Little(5, 8)) +
                            packet(kHashed, Little(7, 8) + Little(78, 8) + Little(~uint64_t{0}, 8)) +
                            packet(kHashed, Little(7, 8) + Little(78, 8) + Little(~uint64_t{1}, 8)));
  corpus.Add("failure",
             packet(kFailed, R"({"kind":"data","message":"\u001b[31mred","traceback":"line 1\nline 2","sample":3})"));
  corpus.Add("file-that-is-none", packet(kReady, Little(description.size(), 8), 1) + packet(kDone, "", 2));
  corpus.Add("raw", packet(kRaw, "RPK1") + packet(kRaw, Little(0x314b5052, 4) + Little(104, 2) + Little(0, 6)));
}

}  // namespace
}  // namespace rekindle::checkpoint

int main(int argc, char** argv) {
  using namespace rekindle::checkpoint;
  if (argc != 2) {
    std::printf("usage: %s CORPUS-FOLDER\n", argv[0]);
    return 2;
  }
  MakeManifests({argv[1], "manifest"});
  MakeJobFiles({argv[1], "job_file"});
  MakeSafetensors({argv[1], "safetensors"});
  MakePlanes({argv[1], "planes"});
  MakeJson({argv[1], "strict_json"});
  MakeBundles({argv[1], "bundle"});
  MakeConversations({argv[1], "child_protocol"});
  return 0;
}
