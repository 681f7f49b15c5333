#pragma once

// Symbols are hidden by default; what a user may link against is in a
// public header inside `namespace rill RILL_API { ... }`.
#define RILL_API __attribute__((visibility("default")))
