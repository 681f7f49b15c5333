// Which ops a GPU has kernels for. An op with a kernel for the CPU has one for the GPU too, or
// stands here with the reason; docs/gpu_ops.md is made from both lists.
#if RILL_ALL_CUDA_KERNELS
#include "gpu_ops.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "rill/base/format.h"
#include "rill/core/op.h"

namespace rill::conformance {
namespace {

constexpr const char *kStrings = "strings are the host's", *kFiles = "files are the host's",
                     *kShapes = "shapes are the host's", *kPrints = "prints on the host",
                     *kFactors = "factorisation of matrices: not yet", *kNotYet = "not yet",
                     *kKeys = "keys of random streams are the host's",
                     *kMerged = "made for the CPU alone; on a GPU updates stay apart";

const std::map<std::string, const char*>& exceptions() {
  static const std::map<std::string, const char*> table = {
      {"AsString", kStrings},
      {"DecodeAndCropJpeg", kStrings},
      {"DecodeBase64", kStrings},
      {"DecodeBmp", kStrings},
      {"DecodeCSV", kStrings},
      {"DecodeGif", kStrings},
      {"DecodeImage", kStrings},
      {"DecodeJpeg", kStrings},
      {"DecodePng", kStrings},
      {"DecodeRaw", kStrings},
      {"EncodeBase64", kStrings},
      {"EncodeJpeg", kStrings},
      {"EncodeJpegVariableQuality", kStrings},
      {"EncodePng", kStrings},
      {"ExtractJpegShape", kStrings},
      {"ParseExampleV2", kStrings},
      {"ParseSequenceExampleV2", kStrings},
      {"ParseTensor", kStrings},
      {"ReduceJoin", kStrings},
      {"RegexFullMatch", kStrings},
      {"RegexReplace", kStrings},
      {"SerializeTensor", kStrings},
      {"StringJoin", kStrings},
      {"StringLength", kStrings},
      {"StringLower", kStrings},
      {"StringNGrams", kStrings},
      {"StringSplitV2", kStrings},
      {"StringStrip", kStrings},
      {"StringToHashBucket", kStrings},
      {"StringToHashBucketFast", kStrings},
      {"StringToHashBucketStrong", kStrings},
      {"StringToNumber", kStrings},
      {"StringUpper", kStrings},
      {"Substr", kStrings},
      {"UnicodeDecode", kStrings},
      {"UnicodeDecodeWithOffsets", kStrings},
      {"UnicodeEncode", kStrings},
      {"UnicodeScript", kStrings},
      {"UnicodeTranscode", kStrings},
      {"MatchingFiles", kFiles},
      {"ReadFile", kFiles},
      {"WriteFile", kFiles},
      {"BroadcastArgs", kShapes},
      {"BroadcastGradientArgs", kShapes},
      {"InvertPermutation", kShapes},
      {"PrintV2", kPrints},
      {"RngReadAndSkip", kKeys},
      {"StatelessRandomGetAlg", kKeys},
      {"StatelessRandomGetKeyCounter", kKeys},
      {"BandedTriangularSolve", kFactors},
      {"Cholesky", kFactors},
      {"Eig", kFactors},
      {"LogMatrixDeterminant", kFactors},
      {"Lu", kFactors},
      {"MatrixDeterminant", kFactors},
      {"MatrixExponential", kFactors},
      {"MatrixInverse", kFactors},
      {"MatrixLogarithm", kFactors},
      {"MatrixSolve", kFactors},
      {"MatrixSquareRoot", kFactors},
      {"MatrixTriangularSolve", kFactors},
      {"Qr", kFactors},
      {"SelfAdjointEigV2", kFactors},
      {"Svd", kFactors},
      {"TridiagonalSolve", kFactors},
      {"CombinedNonMaxSuppression", kNotYet},
      {"DenseToDenseSetOperation", kNotYet},
      {"DenseToSparseSetOperation", kNotYet},
      {"DrawBoundingBoxes", kNotYet},
      {"DrawBoundingBoxesV2", kNotYet},
      {"ExtractGlimpseV2", kNotYet},
      {"FractionalAvgPool", kNotYet},
      {"FractionalAvgPoolGrad", kNotYet},
      {"FractionalMaxPool", kNotYet},
      {"FractionalMaxPoolGrad", kNotYet},
      {"NonMaxSuppression", kNotYet},
      {"NonMaxSuppressionV2", kNotYet},
      {"NonMaxSuppressionV3", kNotYet},
      {"NonMaxSuppressionV4", kNotYet},
      {"NonMaxSuppressionV5", kNotYet},
      {"NonMaxSuppressionWithOverlaps", kNotYet},
      {"SampleDistortedBoundingBox", kNotYet},
      {"SampleDistortedBoundingBoxV2", kNotYet},
      {"SetSize", kNotYet},
      {"SparseToSparseSetOperation", kNotYet},
      {"StatefulRandomBinomial", kNotYet},
      {"StatelessParameterizedTruncatedNormal", kNotYet},
      {"StatelessSampleDistortedBoundingBox", kNotYet},
      {"TridiagonalMatMul", kNotYet},
      {"_ApplyMany", kMerged},
  };
  return table;
}

// What an op has kernels for on a device; DType() stands for ops whose kernel no dtype selects.
std::vector<DType> types_of(const Op& op, DeviceType device) {
  std::vector<DType> types;
  for (int i = 0; i < DType::kCount; ++i)
    if (const DType d{static_cast<DType::Code>(i)}; op.kernel(device, d)) types.push_back(d);
  return types;
}
std::string names_of(const std::vector<DType>& types) {
  std::string text;
  for (DType d : types) text += (text.empty() ? "" : ", ") + std::string(d.name());
  return text;
}

}  // namespace

std::string gpu_ops_page() {
  std::ostringstream whole, some, none;
  int all = 0, partly = 0, missing = 0;
  for (const std::string& name : list_ops()) {
    const Op& op = find_op(name);
    const auto cpu = types_of(op, DeviceType::cpu), gpu = types_of(op, DeviceType::gpu);
    if (cpu.empty()) continue;
    if (gpu.empty()) {
      ++missing;
      const auto reason = exceptions().find(name);
      none << "| " << name << " | " << (reason == exceptions().end() ? "?" : reason->second)
           << " |\n";
      continue;
    }
    std::vector<DType> left;
    for (DType d : cpu)
      if (d != string && d != DType() && !op.kernel(DeviceType::gpu, d) &&
          !op.kernel(DeviceType::gpu, DType()))
        left.push_back(d);
    if (left.empty()) {
      ++all;
      whole << (all > 1 ? ", " : "") << name;
    } else {
      ++partly;
      some << "| " << name << " | " << names_of(left) << " |\n";
    }
  }
  std::ostringstream page;
  page << "# Ops on GPUs\n\nMade by `make gpu-ops` from the registry; do not edit.\n\n"
       << format(
              "Of {} ops with kernels for the CPU, {} have them for GPUs in every dtype (strings "
              "aside), {} in some, {} in none.\n\n",
              all + partly + missing, all, partly, missing)
       << "## Not on a GPU\n\nSoft placement runs them on the host.\n\n| op | why |\n|---|---|\n"
       << none.str() << "\n## Dtypes that are missing\n\n| op | without |\n|---|---|\n"
       << some.str() << "\n## In every dtype\n\n"
       << whole.str() << "\n";
  return page.str();
}

namespace {

TEST(GpuOps, AKernelOrAReason) {
  for (const std::string& name : list_ops()) {
    const Op& op = find_op(name);
    const bool listed = exceptions().contains(name);
    if (types_of(op, DeviceType::cpu).empty()) continue;
    EXPECT_NE(types_of(op, DeviceType::gpu).empty(), !listed)
        << name
        << (listed ? " has a GPU kernel; take it off the exceptions"
                   : " has no GPU kernel; write one, or say why not");
  }
}
TEST(GpuOps, PageIsUpToDate) {
  const char* root = std::getenv("RILL_SOURCE_DIR");
  if (!root) GTEST_SKIP() << "RILL_SOURCE_DIR is not set";
  std::ifstream file(std::string(root) + "/docs/gpu_ops.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), gpu_ops_page()) << "run `make gpu-ops`";
}

}  // namespace
}  // namespace rill::conformance
#endif
