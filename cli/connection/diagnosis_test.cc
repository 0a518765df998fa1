// Tests the text for each mistake with TLS or tokens. tests/e2e/tls_mistakes_test.py shows that real servers lead to
// these texts.
#include "cli/connection/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Connection kPlain{.endpoint = "host:7070"};
const Connection kTls{.endpoint = "host:7070",
                      .security = {.tls_cert = "/me.pem", .tls_key = "/me.key", .tls_ca = "/ca.pem"}};

TEST(DiagnosisTest, WhatTlsDoesNotExplain) {
  EXPECT_EQ(ExplainTls(kPlain, {}, ""), "");
  EXPECT_EQ(ExplainTls(kTls, {}, "2020-01-01 00:00 UTC"), "");
  EXPECT_EQ(ExplainTls(kPlain, {.connected = true}, ""), "");
  EXPECT_EQ(ExplainTls(kTls, {.connected = true, .speaks_tls = true, .talks = true}, ""), "");
  // When a server accepts connections and then hangs, TLS is not named as the cause.
  EXPECT_EQ(ExplainTls(kTls, {.connected = true, .speaks_tls = true}, ""), "");
}

TEST(DiagnosisTest, OneSideSpeaksTls) {
  EXPECT_THAT(ExplainTls(kPlain, {.connected = true, .speaks_tls = true}, ""),
              AllOf(HasSubstr("speaks TLS"), HasSubstr("--tls-ca"), HasSubstr("REKINDLE_TLS_CA")));
  EXPECT_THAT(ExplainTls(kTls, {.connected = true}, ""),
              AllOf(HasSubstr("host:7070 does not speak TLS"), HasSubstr("--tls-ca"), HasSubstr("REKINDLE_TLS_CA")));
}

TEST(DiagnosisTest, OneThatSaysNothingIsNotTakenForOneWithoutTls) {
  EXPECT_THAT(ExplainTls(kTls, {.connected = true, .silent = true}, ""),
              HasSubstr("the coordinator at host:7070 takes connections and says nothing: is it stopped"));
}

TEST(DiagnosisTest, TheServersCertificate) {
  TlsHandshake seen{.connected = true, .speaks_tls = true, .trust = "certificate has expired", .expired = true};
  seen.until = "2020-01-01 00:00 UTC";
  EXPECT_THAT(ExplainTls(kTls, seen, ""), HasSubstr("has expired on 2020-01-01 00:00 UTC"));
  seen = {.connected = true, .speaks_tls = true, .trust = "self-signed certificate", .unknown_authority = true};
  EXPECT_THAT(ExplainTls(kTls, seen, ""),
              AllOf(HasSubstr("not signed by the authority in /ca.pem"), HasSubstr("--tls-ca or REKINDLE_TLS_CA")));
  seen = {.connected = true, .speaks_tls = true, .trust = "hostname mismatch", .other_name = true};
  seen.names = "a.example, b\033[2J";
  EXPECT_THAT(ExplainTls(kTls, seen, ""), AllOf(HasSubstr("names others: a.example, b?[2J"), HasSubstr("--endpoint")));
  seen = {.connected = true, .speaks_tls = true, .trust = "certificate is not yet valid"};
  EXPECT_THAT(ExplainTls(kTls, seen, ""), HasSubstr("clocks"));
}

TEST(DiagnosisTest, TheCommandsOwnCertificate) {
  const TlsHandshake refused{.connected = true, .speaks_tls = true, .hung_up = true, .alert = "unknown CA"};
  EXPECT_THAT(ExplainTls(kTls, refused, ""),
              AllOf(HasSubstr("does not take your certificate /me.pem (unknown CA)"), HasSubstr("--tls-cert")));
  EXPECT_THAT(ExplainTls(kTls, refused, "2020-01-01 00:00 UTC"),
              HasSubstr("your certificate /me.pem has expired on 2020-01-01 00:00 UTC"));
  EXPECT_THAT(ExplainTls(kTls, {.connected = true, .speaks_tls = true, .hung_up = true}, ""),
              HasSubstr("does not take your certificate /me.pem: give"));
}

TEST(DiagnosisTest, Tokens) {
  EXPECT_THAT(ExplainToken(kPlain),
              AllOf(HasSubstr("wants its token"), HasSubstr("--token-file"), HasSubstr("REKINDLE_TOKEN_FILE")));
  Connection wrong = kPlain;
  wrong.security.token_file = "/token";
  wrong.context = "prod";
  EXPECT_THAT(ExplainToken(wrong),
              AllOf(HasSubstr("(context prod) does not take the token in /token"), HasSubstr("--token-file")));
}

}  // namespace
}  // namespace rekindle::cli
