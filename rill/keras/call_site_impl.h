#pragma once
#include "rill/core/call_context.h"
