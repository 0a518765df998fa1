#include "worker/models/registry/numeric_runtime.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>

namespace rekindle::models {
namespace {

const ModelSpec kSpec = {.kind = "gpt", .layers = 4, .heads = 4, .width = 128, .context = 128};

std::string Digest(const ModelSpec& spec) {
  auto digest = ProbeDigest(spec, 4);
  EXPECT_TRUE(digest.ok()) << digest.status();
  return digest.ok() ? *digest : "";
}

// The test OtherProcessesAgree runs this test in a child process and reads the digest that it prints.
TEST(ProbeTest, IsStable) {
  std::string digest = Digest(kSpec);
  EXPECT_EQ(digest.size(), 32u);
  EXPECT_EQ(Digest(kSpec), digest);
  std::printf("digest=%s\n", digest.c_str());
}

TEST(ProbeTest, OtherProcessesAgree) {
  std::string command = "/proc/" + std::to_string(getpid()) + "/exe --gtest_filter=ProbeTest.IsStable";
  for (int i = 0; i < 2; ++i) {
    std::unique_ptr<FILE, int (*)(FILE*)> child(popen(command.c_str(), "r"), pclose);
    ASSERT_NE(child, nullptr);
    std::string output;
    std::array<char, 256> line;
    while (fgets(line.data(), line.size(), child.get()) != nullptr) output += line.data();
    EXPECT_NE(output.find("digest=" + Digest(kSpec)), std::string::npos) << output;
  }
}

TEST(ProbeTest, DependsOnTheModel) {
  ModelSpec wider = kSpec;
  wider.width = 132;
  EXPECT_NE(Digest(wider), Digest(kSpec));
  wider.heads = 5;
  EXPECT_FALSE(ProbeDigest(wider, 4).ok());
}

// Probes a model that is so large that its probe would take far too long without a limit on the probe's work.
TEST(ProbeTest, ALargeModelIsProbedInASmallWay) {
  Digest({.kind = "gpt", .layers = 512, .heads = 16, .width = 512, .context = 1 << 20});
}

}  // namespace
}  // namespace rekindle::models
