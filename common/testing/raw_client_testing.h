// Provides tests with a client that sends any bytes and reads what comes back.
#ifndef REKINDLE_COMMON_TESTING_RAW_CLIENT_TESTING_H_
#define REKINDLE_COMMON_TESTING_RAW_CLIENT_TESTING_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <string>

#include "common/process/process.h"
#include "common/time/clock.h"

namespace rekindle::common {

class RawClient {
 public:
  // Connects to `address`, which is 127.0.0.1:PORT.
  explicit RawClient(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str())));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }

  bool connected() const { return connected_; }

  // Sends bytes. Returns false if the other side accepts no more.
  bool Send(const std::string& bytes) {
    size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t some = send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (some <= 0) return false;
      sent += static_cast<size_t>(some);
    }
    return true;
  }

  // Reads until the text `until` has come, or, if `until` is empty, until the other side ends the connection. Returns
  // all that has come.
  std::string Read(const std::string& until = "") {
    std::string got;
    const double end = SteadySeconds() + kPatienceSeconds;
    while (until.empty() || got.find(until) == std::string::npos) {
      pollfd waits = {socket_.get(), POLLIN, 0};
      if (SteadySeconds() > end || poll(&waits, 1, 1000 * kPatienceSeconds) <= 0) return got + "(nothing more came)";
      char buffer[4096];
      const ssize_t some = recv(socket_.get(), buffer, sizeof buffer, 0);
      if (some <= 0) break;
      got.append(buffer, static_cast<size_t>(some));
    }
    return got;
  }

  // Sends one request without a body on a connection of its own, and returns the whole answer.
  static std::string Ask(const std::string& address, const std::string& path, const std::string& headers = "",
                         const std::string& method = "GET") {
    RawClient client(address);
    client.Send(method + " " + path + " HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n");
    return client.Read();
  }

 private:
  static constexpr int kPatienceSeconds = 30;
  UniqueFd socket_;
  bool connected_ = false;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TESTING_RAW_CLIENT_TESTING_H_
