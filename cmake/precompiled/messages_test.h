// The headers that most tests include which know the messages of the protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/precompiled/messages.h"
