// This file has a fake cloud on loopback, which answers as a test wants.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_TESTING_CLOUD_TESTING_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_TESTING_CLOUD_TESTING_H_

#include <gtest/gtest.h>
#include <httplib.h>

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/sync/mutex.h"
#include "coordinator/fleet/providers/http/cloud_api.h"

namespace rekindle::fleet {

// A FakeCloud passes every request to the function `answer`, one at a time.
class FakeCloud {
 public:
  using Answer = std::function<void(const httplib::Request&, httplib::Response&)>;

  explicit FakeCloud(Answer answer) : answer_(std::move(answer)) {
    const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
      const common::MutexLock lock(mutex_);
      seen_.push_back(request.method + " " + request.target + (request.body.empty() ? "" : " " + request.body));
      if (!faults_.empty()) {
        const Answer fault = faults_.front();
        faults_.erase(faults_.begin());
        return fault(request, response);
      }
      answer_(request, response);
    };
    server_.Get(".*", handle);
    server_.Post(".*", handle);
    server_.Put(".*", handle);
    server_.Patch(".*", handle);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  ~FakeCloud() {
    server_.stop();
    thread_.join();
  }

  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // Lets the next request get `fault` instead of the usual answer.
  void Spoil(Answer fault) {
    const common::MutexLock lock(mutex_);
    faults_.push_back(std::move(fault));
  }
  void Spoil(int status, const std::string& body, const httplib::Headers& headers = {}) {
    Spoil([=](const httplib::Request&, httplib::Response& response) {
      response.status = status;
      for (const auto& [name, value] : headers) response.set_header(name, value);
      response.set_content(body, "text/plain");
    });
  }
  // Returns "METHOD target body" of each request that the fake cloud has got so far, and forgets these requests.
  std::vector<std::string> TakeSeen() {
    const common::MutexLock lock(mutex_);
    return std::exchange(seen_, {});
  }

 private:
  const Answer answer_;
  common::Mutex mutex_;
  std::vector<Answer> faults_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> seen_ ABSL_GUARDED_BY(mutex_);
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

inline Variables Fixed(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
}

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_TESTING_CLOUD_TESTING_H_
