// What this machine is, by its firmware and environment: no network.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_MACHINE_H_
#define REKINDLE_WORKER_AGENT_NOTICES_MACHINE_H_

#include <functional>
#include <string>

namespace rekindle::agent {

struct Machine {
  std::string root;                                            // Before each path; tests have one.
  std::function<std::string(const std::string&)> environment;  // Empty for what is not set.

  // The start of a small file, without blanks at its end; empty when it cannot be read.
  std::string Read(const std::string& path) const;
  // A string of the firmware, such as "sys_vendor".
  std::string Dmi(const std::string& name) const { return Read("/sys/class/dmi/id/" + name); }
};

Machine ThisMachine();

bool IsEc2(const Machine& machine);
bool IsGoogleCloud(const Machine& machine);
bool IsAzure(const Machine& machine);
bool IsKubernetesPod(const Machine& machine);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_MACHINE_H_
