# proto/*.proto as C++ that only the library sees: "rill_proto/graph.pb.h". The
# folder's name among protobuf's files is ours alone, so that a program which
# has a graph.proto of its own can be beside us.

file(GLOB protos CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/proto/*.proto")
set(proto_folder "${PROJECT_BINARY_DIR}/proto")
set(proto_names "")
set(RILL_PROTO_SOURCES "")
set(proto_headers "")
foreach(proto ${protos})
  cmake_path(GET proto STEM name)
  list(APPEND proto_names "rill_proto/${name}.proto")
  list(APPEND RILL_PROTO_SOURCES "${proto_folder}/rill_proto/${name}.pb.cc")
  list(APPEND proto_headers "${proto_folder}/rill_proto/${name}.pb.h")
endforeach()
file(MAKE_DIRECTORY "${proto_folder}")
add_custom_command(
  OUTPUT ${RILL_PROTO_SOURCES} ${proto_headers}
  COMMAND protobuf::protoc "-Irill_proto=${PROJECT_SOURCE_DIR}/proto"
          "--cpp_out=${proto_folder}" ${proto_names}
  DEPENDS ${protos}
  COMMENT "Generating rill_proto/*.pb.cc" VERBATIM)
# Warnings in generated code are not ours to mend; it is never where time is spent.
set_source_files_properties(${RILL_PROTO_SOURCES} PROPERTIES COMPILE_OPTIONS "-w;-O1")

# Under the thread sanitizer protobuf's headers give some classes a member more, which the
# system's library does not have: they must not know.
if(RILL_SANITIZE MATCHES "thread")
  file(GLOB proto_users CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/rill/graph/*/*.cc"
       "${PROJECT_SOURCE_DIR}/rill/saving/*.cc" "${PROJECT_SOURCE_DIR}/rill/summary/*.cc"
       "${PROJECT_SOURCE_DIR}/rill/keras/*/*.cc" "${PROJECT_SOURCE_DIR}/tests/checkpoints/*.cc")
  set_source_files_properties(${RILL_PROTO_SOURCES} PROPERTIES
    COMPILE_OPTIONS "-w;-O1;-U__SANITIZE_THREAD__")
  foreach(source ${proto_users})
    file(STRINGS "${source}" uses REGEX "(graph_def|tensor_proto|attr_proto|raise_control_flow|object_graph|restore|checkpoint|event_file)_impl\\.h|pb\\.h")
    if(uses)
      # A test then cannot share the precompiled headers, which know.
      set_source_files_properties("${source}" PROPERTIES
        COMPILE_OPTIONS "-U__SANITIZE_THREAD__" SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endif()
