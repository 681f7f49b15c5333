#include "beside.h"

#include <google/protobuf/struct.pb.h>
#include <hdf5.h>

std::string libraries_beside() {
  google::protobuf::Struct message;
  (*message.mutable_fields())["answer"].set_number_value(42);
  google::protobuf::Struct copy;
  bool same = copy.ParseFromString(message.SerializeAsString()) &&
              copy.fields().at("answer").number_value() == 42;

  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::string("protobuf ") + (same ? "works" : "fails") + ", HDF5 " + std::to_string(major) +
         "." + std::to_string(minor);
}
