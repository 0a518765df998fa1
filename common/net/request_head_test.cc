#include "common/net/request_head.h"

#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

// Sends a request's head through the filter in pieces of `piece` bytes, and returns what is let through.
std::string Through(const std::string& sent, size_t piece = 1000, size_t* left = nullptr) {
  RequestHead head(1000);
  size_t at = 0;
  while (at < sent.size() && !head.is_whole() && !head.is_too_long()) {
    at += head.Take(absl::string_view(sent).substr(at, piece));
  }
  if (left != nullptr) *left = sent.size() - at;
  if (!head.is_whole()) return head.is_too_long() ? "too long" : "not whole";
  std::string read;
  char some[7];
  while (const size_t got = head.Read(some, sizeof some)) read.append(some, got);
  return read;
}

TEST(RequestHeadTest, AHeadIsReadAsItWasSentHoweverItComes) {
  const std::string sent = "GET /a HTTP/1.1\r\nHost: x\r\nX-Word: a : b\r\n\r\n";
  for (const size_t piece : {1u, 2u, 3u, 5u, 1000u}) {
    size_t left = 0;
    EXPECT_EQ(Through(sent + "GET /next", piece, &left), sent);
    EXPECT_EQ(left, 9u) << "bytes of the next request";
  }
  EXPECT_EQ(Through("GET /a HTTP/1.1\r\n\r\n"), "GET /a HTTP/1.1\r\n\r\n");
}

TEST(RequestHeadTest, HeadersThatNobodyAnswersByAreLeftOut) {
  EXPECT_EQ(Through("GET / HTTP/1.1\r\nrAnGe: bytes=" + std::string(500, '1') +
                    "\r\nA: b\r\naccept-encoding: br\r\n"
                    "Expect: 100-continue\r\n\r\n"),
            "GET / HTTP/1.1\r\nA: b\r\n\r\n");
  EXPECT_EQ(Through("GET / HTTP/1.1\r\nRanges: x\r\n\r\n"), "GET / HTTP/1.1\r\nRanges: x\r\n\r\n");
}

TEST(RequestHeadTest, WhatTwoReadersMayTakeForDifferentRequestsIsAnEmptyLine) {
  const std::string malformed[] = {
      "Content-Length : 50",    "Content-Length\t: 50", " Range: bytes=0-1",     "no colon", ": x",
      "A: b\nRange: bytes=0-1", "A: b\rRange: x",       std::string("A: \0b", 5)};
  for (const std::string& line : malformed) {
    EXPECT_EQ(Through("GET / HTTP/1.1\r\nHost: x\r\n" + line + "\r\n\r\n"), "\r\n\r\n") << line;
  }
  EXPECT_EQ(Through("\r\n\r\n"), "\r\n\r\n");
}

TEST(RequestHeadTest, AHeadHasAMostOfBytes) {
  const std::string begin = "GET / HTTP/1.1\r\nA: ";
  const std::string whole = begin + std::string(1000 - begin.size() - 4, 'x') + "\r\n\r\n";
  EXPECT_EQ(Through(whole), whole);
  EXPECT_EQ(Through(begin + std::string(1000 - begin.size() - 3, 'x') + "\r\n\r\n"), "too long");
  EXPECT_EQ(Through(begin), "not whole");
}

}  // namespace
}  // namespace rekindle::common
