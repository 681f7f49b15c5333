# The one door. `make` builds, `make demo` shows, `make test` proves.
#
#   make               release build in build/
#   make demo          run the demonstration programs
#   make test          build and run all tests
#   make smoke         base and core tests only, a few seconds
#   make debug         debug build and tests in build-debug/
#   make asan, tsan    the same under sanitizers
#   make bench         run the benchmarks; bench-peers: beside TensorFlow, PyTorch and JAX (ROUNDS=3)
#   make nightly       what takes too long for every change (PARTS="tsan fuzz"; tools/nightly)
#   make parity        compare numbers with TensorFlow; UPDATE=1 writes the goldens
#   make gpu-report    all GPU tests and benchmarks on this machine's GPU, in build/gpu_report/
#   make gpu-bundle    the same as an archive for another machine, build/gpu_bundle.tar.gz
#   make gpu-ops       which ops have kernels for GPUs; writes docs/gpu_ops.md
#   make features      what the last `make test` showed; writes docs/features.md
#   make format, lint  clang-format; rules on includes and format (RILL_TIDY=1: clang-tidy)
#   make install PREFIX=/usr/local
#   make clean

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
VENV := $(or $(RILL_VENV),$(HOME)/.cache/rill/tf215)
PYTHON := $(VENV)/bin/python
VENV_NEWEST := $(or $(RILL_VENV_NEWEST),$(HOME)/.cache/rill/newest)
VENV_PEERS := $(or $(RILL_VENV_PEERS),$(HOME)/.cache/rill/peers)

export NINJA_STATUS ?= [%f/%t %es] 
# Tests run side by side; threads that wait must not spin on a core that
# another test needs.
TEST := OMP_WAIT_POLICY=passive ctest --output-on-failure --no-tests=error -j$(JOBS)

# Of the sanitized tests, those whose label matches; and what is built for them.
LABELS ?= .
TARGETS ?= all

.DEFAULT_GOAL := build
.PHONY: build demo test smoke debug asan tsan nightly bench bench-peers parity features \
        format lint install clean packages

packages:
	@tools/install_packages

# $(call configure,preset,folder): once; later builds reconfigure by themselves.
# CMake's findings are long and seldom of interest; its errors are not hidden.
configure = @test -f $(2)/build.ninja || { \
  echo "Configuring $(2)/"; cmake --preset $(1) $(CMAKE_FLAGS) | grep '^-- Rill'; }

build: packages
	$(call configure,release,build)
	@cmake --build build -j$(JOBS)

demo: packages
	$(call configure,release,build)
	@JOBS=$(JOBS) tools/demo house_prices digits

test: build
	@rm -rf build/reports
	@$(TEST) --test-dir build
	@tools/test_report build

smoke: packages
	$(call configure,release,build)
	@cmake --build build -j$(JOBS) --target smoke_tests
	@$(TEST) --test-dir build --label-regex '^(base|core)$$'

# The address sanitizer watches the library; tests and examples are linked as `build` compiled them.
asan: build
debug asan tsan: packages
	$(call configure,$@,build-$@)
	@cmake --build build-$@ -j$(JOBS) --target $(TARGETS)
	@rm -rf build-$@/reports
	@$(TEST) --test-dir build-$@ --label-regex '$(LABELS)'
	@tools/test_report build-$@

nightly:
	@tools/nightly $(PARTS)

bench: build
	@tools/bench

bench-peers: build venv venv-peers
	@$(PYTHON) tools/bench_peers.py build $(ROUNDS) --python $(VENV_PEERS)/bin/python

parity: packages venv venv-newest
	$(call configure,release,build)
	@cmake --build build -j$(JOBS) --target op_conformance_test --target graph_def_test \
	  --target saving_test --target checkpoints_test --target data_test --target keras_test \
	  --target keras_preprocessing_test
	@$(MAKE) --no-print-directory -k -j$(JOBS) --output-sync=target $(PARITY)

# The comparisons; none needs another's result, and each has one thread.
PARITY := parity-random-newest parity-random parity-ops parity-files parity-graphs parity-checkpoints \
          parity-datasets parity-functions parity-functions-newest parity-newest \
          parity-preprocessing
.PHONY: $(PARITY)
parity-ops:
	@$(PYTHON) tools/parity.py build/tests/op_conformance_test tests/op_conformance/goldens $(if $(UPDATE),--update)
parity-graphs:
	@$(PYTHON) tools/graph_def.py build/tests/graph_def_test tests/graph_def/goldens $(if $(UPDATE),--update)
parity-checkpoints:
	@$(PYTHON) tools/checkpoints.py build/tests rill/saving/testdata $(if $(UPDATE),--update)
parity-datasets:
	@$(PYTHON) tools/saved_datasets.py build/tests rill/data/testdata/saved $(if $(UPDATE),--update)
parity-files:
	@$(PYTHON) tools/keras_files.py build/tests/keras_test rill/keras/saving/testdata $(if $(UPDATE),--update)
parity-preprocessing:
	@folder=$$(mktemp -d); RILL_SOURCE_DIR=$$PWD RILL_PREPROCESSING_OUT=$$folder \
	  build/tests/keras_preprocessing_test --gtest_brief=1 --gtest_filter='*Files*'; \
	  for python in $(PYTHON) $(VENV_NEWEST)/bin/python; do \
	    $$python tools/keras_preprocessing.py $(if $(UPDATE),,--check); \
	    $$python tools/keras_preprocessing.py --read $$folder; done; rm -r $$folder
parity-functions:
	@$(PYTHON) tools/keras_functions.py build/tests/keras_test
parity-functions-newest:
	@$(VENV_NEWEST)/bin/python tools/keras_functions.py build/tests/keras_test
parity-random:
	@$(PYTHON) tools/keras_random.py build/tests/keras_test 150 $$(date +%j)
parity-random-newest:
	@$(VENV_NEWEST)/bin/python tools/keras_random.py build/tests/keras_test 150 $$(date +%j)
parity-newest:
	@$(VENV_NEWEST)/bin/python tools/keras3_goldens.py $(if $(UPDATE),,--check)
	@$(VENV_NEWEST)/bin/python tools/keras_newest.py build/tests/keras_test rill/keras/saving/testdata/keras3 $(if $(UPDATE),--update)

.PHONY: venv venv-newest venv-peers
venv:
	@tools/make_venv "$(VENV)"
venv-newest:
	@tools/make_venv "$(VENV_NEWEST)" newest
venv-peers:
	@tools/make_venv "$(VENV_PEERS)" peers

# From the last `make test`; PROGRAMS=1 first runs the programs in full, which takes long.
features:
	@tools/install_packages python3
	@$(if $(PROGRAMS),python3 tools/features --programs build)
	@python3 tools/features $(if $(CHECK),--check) build

.PHONY: gpu-programs gpu-report gpu-bundle gpu-ops
gpu-programs: packages
	$(call configure,release,build)
	@cmake --build build -j$(JOBS) --target op_conformance_gpu_test --target cuda_test \
	  --target bench_cuda_mlp --target bench_cuda_captured_step --target bench_cuda_kernels \
	  --target bench_cuda_networks
gpu-report: gpu-programs
	@tools/gpu_report build build/gpu_report
gpu-bundle: packages
	$(call configure,release,build)
	@cmake --build build -j$(JOBS) --target rill
	@tools/gpu_bundle build build/gpu_bundle.tar.gz
gpu-ops: packages
	$(call configure,release,build)
	@cmake --build build -j$(JOBS) --target op_conformance_gpu_test
	@build/tests/op_conformance_gpu_test --print_gpu_ops > docs/gpu_ops.md

format:
	@tools/install_packages clang-format
	@tools/format

lint:
	@RILL_TIDY=$(RILL_TIDY) tools/lint

install: packages
	$(call configure,release,build)
	@cmake --build build -j$(JOBS) --target rill rill_archive
	@cmake --install build --prefix "$(PREFIX)"

clean:
	@rm -rf build build-debug build-asan build-tsan
