// Reads from firmware and environment, without the network, what kind of machine this is.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_MACHINE_FACTS_H_
#define REKINDLE_WORKER_AGENT_NOTICES_MACHINE_FACTS_H_

#include <functional>
#include <string>

namespace rekindle::agent {

struct Machine {
  // `root` is put before each path, so that tests can have a folder in place of "/".
  std::string root;
  // `environment` returns the value of an environment variable, or an empty text if it is not set.
  std::function<std::string(const std::string&)> environment;

  // Returns the start of a small file without blanks at its end. Returns an empty text if the file cannot be read.
  std::string Read(const std::string& path) const;
  // Returns a DMI string of the firmware, such as "sys_vendor".
  std::string Dmi(const std::string& name) const { return Read("/sys/class/dmi/id/" + name); }
};

Machine ThisMachine();

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_MACHINE_FACTS_H_
