#pragma once
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

// Finds a file of the repository from the build folder or the source folder.
inline std::string data_file(const std::string& name) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  for (const std::string& base : {root ? std::string(root) + "/" : std::string(), std::string(),
                                  std::string("../"), std::string("../../")}) {
    const std::string path = base + "examples/data/" + name;
    if (std::FILE* f = std::fopen(path.c_str(), "rb")) {
      std::fclose(f);
      return path;
    }
  }
  std::cerr << "examples/data/" << name << " not found; run from the source folder\n";
  std::exit(1);
}
