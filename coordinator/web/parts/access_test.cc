#include "coordinator/web/parts/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/net/listen.h"
#include "common/rpc/rpc.h"

namespace rekindle::coordinator::web {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

class AccessTest : public testing::Test {
 protected:
  // Returns the HTTP status with which a request is refused, or 0 when it may pass.
  int Status(const std::map<std::string, std::string>& changed, bool needs_token = true,
             const std::string& method = "GET") {
    common::PageRequest request{
        .method = method,
        .path = "/api/jobs",
        .query = {},
        .headers = {{"host", "127.0.0.1:7080"}, {"authorization", std::string("Bearer ") + kToken}}};
    for (const auto& [name, value] : changed) request.headers[name] = value;
    const auto refusal = access_.Refuse(request, needs_token);
    if (refusal && refusal->body) {
      EXPECT_THAT(*refusal->body, HasSubstr("\"error\""));
      EXPECT_THAT(*refusal->body, Not(HasSubstr(kToken)));
    }
    return refusal ? refusal->status : 0;
  }

  const Access access_{
      {.token = kToken,
       .scheme = "http",
       .is_ours = [](const std::string& host) { return common::IsLoopback(absl::StrCat(common::InUrl(host), ":0")); },
       .names = "localhost"}};
};

TEST_F(AccessTest, WhoeverHasTheTokenAndComesByANameOfOursPasses) {
  EXPECT_EQ(Status({}), 0);
  EXPECT_EQ(Status({}, true, "HEAD"), 0);
  for (const char* host : {"localhost:7080", "LOCALHOST:7080", "[::1]:7080", "127.0.0.1", "localhost:9000"}) {
    EXPECT_EQ(Status({{"host", host}}), 0) << host;
  }
}

TEST_F(AccessTest, AnotherHostIsRefusedAlsoForFiles) {
  for (const char* host :
       {"evil.example:7080", "evil.example", "", "127.0.0.1.evil.example", "127.0.0.1:7080, evil.example",
        "localhost.:7080", "0.0.0.0:7080", "127.0.0.1:7080/x", "user@127.0.0.1:7080", "[::1", ":7080"}) {
    EXPECT_EQ(Status({{"host", host}}), 403) << host;
    EXPECT_EQ(Status({{"host", host}}, false), 403) << host;
  }
}

TEST_F(AccessTest, AnotherOriginIsRefused) {
  EXPECT_EQ(Status({{"origin", "http://127.0.0.1:7080"}}), 0);
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1:7080", "http://localhost:7080",
                             "http://127.0.0.1:7081", "http://127.0.0.1:7080.evil.example"}) {
    EXPECT_EQ(Status({{"origin", origin}}), 403) << origin;
  }
  EXPECT_EQ(Status({{"sec-fetch-site", "same-origin"}}), 0);
  EXPECT_EQ(Status({{"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(Status({{"sec-fetch-site", "same-site"}}), 403);
  EXPECT_EQ(Status({{"sec-fetch-site", "cross-site"}}, false), 0) << "a link from elsewhere may lead to the page";
}

TEST_F(AccessTest, WithoutTheTokenThereAreFilesAlone) {
  for (const char* given : {"", "Bearer", "Bearer ", "Bearer 0123456789abcdef0123456789abcdeg",
                            "Bearer 0123456789abcdef", "bearer 0123456789abcdef0123456789abcdef",
                            "0123456789abcdef0123456789abcdef", "Bearer 0123456789abcdef0123456789abcdef "}) {
    EXPECT_EQ(Status({{"authorization", given}}), 401) << given;
    EXPECT_EQ(Status({{"authorization", given}}, false), 0) << given;
  }
}

TEST_F(AccessTest, NothingCanBeChanged) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PRI"}) {
    EXPECT_EQ(Status({}, true, method), 405) << method;
    EXPECT_EQ(Status({}, false, method), 405) << method;
  }
}

}  // namespace
}  // namespace rekindle::coordinator::web
