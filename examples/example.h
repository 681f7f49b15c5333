#pragma once
#include <rill/rill.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

// What the examples share: they state what they expect, so that running them
// is a test.
inline void expect(bool ok, const std::string& what) {
  if (ok) return;
  std::cerr << "not as expected: " << what << '\n';
  std::exit(1);
}

// Whether MNIST's files are there; ctest names their folder by RILL_DATA_DIR.
inline bool has_mnist() {
  try {
    static const bool there = rill::keras::datasets::mnist::load_data().train.x.defined();
    return there;
  } catch (const rill::errors::NotFound&) {
    return false;
  }
}
