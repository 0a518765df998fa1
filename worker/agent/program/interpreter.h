// Asks the node's Python which versions it has, and whether it can run users' own models.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_INTERPRETER_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_INTERPRETER_H_

#include <string>

#include "rekindle/v1/node.pb.h"

namespace rekindle::agent {

// Runs the interpreter at `path` for at most a few seconds. The field `problem` of the result says why it cannot run
// own models, so that users can mend it.
v1::Interpreter AskInterpreter(const std::string& path);

// Makes the result of AskInterpreter from what the interpreter has written. It is a function of its own for tests.
v1::Interpreter ReadInterpreter(const std::string& path, const std::string& output);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_INTERPRETER_H_
