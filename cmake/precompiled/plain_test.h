// The headers that most tests include.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/precompiled/plain.h"
