// SPDX-License-Identifier: Apache-2.0
// The table from operators and opsets to kernels, and `evaluate`.
#include "runtime/reference/Compose.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/StringNumbers.h"

#include <algorithm>
#include <new>
#include <stdexcept>

namespace tilewright {

namespace reference {

/// Which inputs that are not numbers a kernel accepts, and how.
enum class Objects {
  Refused,
  Supported,       // strings, sequences, optionals and maps, as they are
  AsRanks,         // strings as their ranks (StringNumbers.h); all outputs are ranks too
  FirstAsRanks,    // the same, but only the first output is ranks
  ComparedAsRanks, // the same, but no output is ranks
};

struct TableRow {
  std::string_view op, domain;
  int64_t first, last; // opsets of the domain
  Kernel kernel;
  Objects objects = Objects::Refused;
};

static constexpr int64_t latest = 28; // of ai.onnx; newer opsets may change any operator

// By family. From opset `first` on, the operator has a form that the kernel reads. Where an operator changed between
// `first` and `last`, its kernel checks the opset.
static constexpr TableRow table[] = {
    // Unary
    {"Acos", "", 7, latest, unaryFloat},
    {"Acosh", "", 9, latest, unaryFloat},
    {"Asin", "", 7, latest, unaryFloat},
    {"Asinh", "", 9, latest, unaryFloat},
    {"Atan", "", 7, latest, unaryFloat},
    {"Atanh", "", 9, latest, unaryFloat},
    {"Ceil", "", 1, latest, unaryFloat},
    {"Cos", "", 7, latest, unaryFloat},
    {"Cosh", "", 9, latest, unaryFloat},
    {"Erf", "", 9, latest, unaryFloat},
    {"Exp", "", 1, latest, unaryFloat},
    {"Floor", "", 1, latest, unaryFloat},
    {"HardSwish", "", 14, latest, unaryFloat},
    {"Log", "", 1, latest, unaryFloat},
    {"Mish", "", 18, latest, unaryFloat},
    {"Reciprocal", "", 1, latest, unaryFloat},
    {"Round", "", 11, latest, unaryFloat},
    {"Sigmoid", "", 1, latest, unaryFloat},
    {"Sin", "", 7, latest, unaryFloat},
    {"Sinh", "", 9, latest, unaryFloat},
    {"Softplus", "", 1, latest, unaryFloat},
    {"Softsign", "", 1, latest, unaryFloat},
    {"Sqrt", "", 1, latest, unaryFloat},
    {"Tan", "", 7, latest, unaryFloat},
    {"Tanh", "", 1, latest, unaryFloat},
    {"Abs", "", 1, latest, absolute},
    {"Neg", "", 1, latest, negate},
    {"Sign", "", 9, latest, sign},
    {"Relu", "", 1, latest, relu},
    {"Not", "", 1, latest, logicalNot},
    {"BitwiseNot", "", 18, latest, bitwiseNot},
    {"IsNaN", "", 9, latest, isNaN},
    {"IsInf", "", 10, latest, isInf},
    {"Shrink", "", 9, latest, shrink},
    {"Clip", "", 1, latest, clip},
    {"LeakyRelu", "", 1, latest, leakyRelu},
    {"Elu", "", 1, latest, elu},
    {"Selu", "", 1, latest, selu},
    {"Celu", "", 12, latest, celu},
    {"ThresholdedRelu", "", 1, latest, thresholdedRelu},
    {"HardSigmoid", "", 1, latest, hardSigmoid},
    {"Swish", "", 24, latest, swish},
    {"Gelu", "", 20, latest, gelu},
    {"Gelu", "com.microsoft", 1, latest, gelu},
    {"QuickGelu", "com.microsoft", 1, latest, quickGelu},
    {"BiasGelu", "com.microsoft", 1, latest, biasGelu},
    {"FastGelu", "com.microsoft", 1, latest, biasGelu},
    // Binary
    {"Add", "", 1, latest, add},
    {"Sub", "", 1, latest, subtract},
    {"Mul", "", 1, latest, multiply},
    {"Div", "", 1, latest, divide},
    {"Mod", "", 10, latest, modulo},
    {"And", "", 1, latest, logicalAnd},
    {"Or", "", 1, latest, logicalOr},
    {"Xor", "", 1, latest, logicalXor},
    {"Equal", "", 1, latest, equal, Objects::ComparedAsRanks},
    {"Less", "", 1, latest, less},
    {"LessOrEqual", "", 12, latest, lessOrEqual},
    {"Greater", "", 1, latest, greater},
    {"GreaterOrEqual", "", 12, latest, greaterOrEqual},
    {"BitwiseAnd", "", 18, latest, bitwiseAnd},
    {"BitwiseOr", "", 18, latest, bitwiseOr},
    {"BitwiseXor", "", 18, latest, bitwiseXor},
    {"BitShift", "", 11, latest, bitShift},
    {"PRelu", "", 1, latest, prelu},
    {"Pow", "", 1, latest, power},
    {"Sum", "", 1, latest, sum},
    {"Mean", "", 1, latest, mean},
    {"Max", "", 1, latest, maximum},
    {"Min", "", 1, latest, minimum},
    {"SwiGLU", "", 28, latest, swiGlu},
    // Reduce
    {"ReduceSum", "", 1, latest, reduceSum},
    {"ReduceProd", "", 1, latest, reduceProd},
    {"ReduceSumSquare", "", 1, latest, reduceSumSquare},
    {"ReduceL1", "", 1, latest, reduceL1},
    {"ReduceL2", "", 1, latest, reduceL2},
    {"ReduceMax", "", 1, latest, reduceMax},
    {"ReduceMin", "", 1, latest, reduceMin},
    {"ReduceMean", "", 1, latest, reduceMean},
    {"ReduceLogSum", "", 1, latest, reduceLogSum},
    {"ReduceLogSumExp", "", 1, latest, reduceLogSumExp},
    // MatMul
    {"MatMul", "", 1, latest, matMul},
    {"Gemm", "", 1, latest, gemm},
    {"MatMulInteger", "", 10, latest, matMulInteger},
    {"QLinearMatMul", "", 10, latest, qLinearMatMul},
    // Einsum
    {"Einsum", "", 12, latest, einsum},
    // Conv
    {"Conv", "", 1, latest, conv},
    {"ConvInteger", "", 10, latest, convInteger},
    {"QLinearConv", "", 10, latest, qLinearConv},
    {"ConvTranspose", "", 1, latest, convTranspose},
    {"Col2Im", "", 18, latest, col2Im},
    {"CausalConvWithState", "", 27, latest, causalConvWithState},
    // Pool
    {"MaxPool", "", 1, latest, maxPool},
    {"AveragePool", "", 1, latest, averagePool},
    {"LpPool", "", 1, latest, lpPool},
    {"GlobalAveragePool", "", 1, latest, globalAveragePool},
    {"GlobalMaxPool", "", 1, latest, globalMaxPool},
    {"GlobalLpPool", "", 1, latest, globalLpPool},
    {"MaxUnpool", "", 9, latest, maxUnpool},
    {"MaxRoiPool", "", 1, latest, maxRoiPool},
    // Normalization
    {"BatchNormalization", "", 1, latest, batchNormalization},
    {"InstanceNormalization", "", 1, latest, instanceNormalization},
    {"GroupNormalization", "", 18, latest, groupNormalization},
    {"LayerNormalization", "", 1, latest, layerNormalization}, // optimizers write it below opset 17 too
    {"RMSNormalization", "", 23, latest, rmsNormalization},
    {"LRN", "", 1, latest, lrn},
    {"LpNormalization", "", 1, latest, lpNormalization},
    {"MeanVarianceNormalization", "", 9, latest, meanVarianceNormalization},
    {"SkipLayerNormalization", "com.microsoft", 1, latest, skipLayerNormalization},
    {"SkipSimplifiedLayerNormalization", "com.microsoft", 1, latest, skipLayerNormalization},
    // Softmax
    {"Softmax", "", 1, latest, softmax},
    {"LogSoftmax", "", 1, latest, logSoftmax},
    {"Hardmax", "", 1, latest, hardmax},
    // Reshape
    {"Identity", "", 1, latest, identity, Objects::Supported},
    {"Reshape", "", 1, latest, reshape, Objects::Supported},
    {"Squeeze", "", 1, latest, squeeze, Objects::Supported},
    {"Unsqueeze", "", 1, latest, unsqueeze, Objects::Supported},
    {"Flatten", "", 1, latest, flatten, Objects::Supported},
    {"Shape", "", 1, latest, shapeOp, Objects::Supported},
    {"Size", "", 1, latest, size, Objects::Supported},
    {"Cast", "", 1, latest, cast, Objects::Supported},
    {"CastLike", "", 15, latest, castLike, Objects::Supported},
    {"BitCast", "", 26, latest, bitCast},
    {"Constant", "", 1, latest, constant},
    {"ConstantOfShape", "", 9, latest, constantOfShape},
    {"Range", "", 11, latest, range},
    {"EyeLike", "", 9, latest, eyeLike},
    {"Dropout", "", 1, latest, dropout},
    // Move
    {"Transpose", "", 1, latest, transposeOp, Objects::AsRanks},
    {"Expand", "", 8, latest, expand, Objects::AsRanks},
    {"Tile", "", 1, latest, tile, Objects::AsRanks},
    {"Concat", "", 1, latest, concat, Objects::AsRanks},
    {"Split", "", 1, latest, split, Objects::AsRanks},
    {"Slice", "", 1, latest, slice, Objects::AsRanks},
    {"Pad", "", 1, latest, pad, Objects::AsRanks},
    {"CenterCropPad", "", 18, latest, centerCropPad},
    {"DepthToSpace", "", 1, latest, depthToSpace, Objects::AsRanks},
    {"SpaceToDepth", "", 1, latest, spaceToDepth, Objects::AsRanks},
    {"Where", "", 9, latest, where, Objects::AsRanks},
    {"Trilu", "", 14, latest, trilu},
    {"ReverseSequence", "", 10, latest, reverseSequence, Objects::AsRanks},
    // Gather
    {"Gather", "", 1, latest, gather, Objects::AsRanks},
    {"GatherElements", "", 11, latest, gatherElements, Objects::AsRanks},
    {"GatherND", "", 11, latest, gatherND, Objects::AsRanks},
    {"Scatter", "", 9, 10, scatterElements, Objects::AsRanks},
    {"ScatterElements", "", 11, latest, scatterElements, Objects::AsRanks},
    {"ScatterND", "", 11, latest, scatterND, Objects::AsRanks},
    {"TensorScatter", "", 24, latest, tensorScatter},
    {"OneHot", "", 9, latest, oneHot},
    {"Compress", "", 9, latest, compress, Objects::AsRanks},
    {"NonZero", "", 9, latest, nonZero},
    {"Unique", "", 11, latest, unique, Objects::FirstAsRanks},
    // Resize
    {"Resize", "", 10, latest, resize},
    {"Upsample", "", 1, 9, resize},
    // Grid
    {"GridSample", "", 16, latest, gridSample},
    {"AffineGrid", "", 20, latest, affineGrid},
    {"RoiAlign", "", 10, latest, roiAlign},
    {"DeformConv", "", 19, latest, deformConv},
    // Recurrent
    {"RNN", "", 1, latest, rnn},
    {"GRU", "", 1, latest, gru},
    {"LSTM", "", 1, latest, lstm},
    // Quantize
    {"QuantizeLinear", "", 10, latest, quantizeLinear},
    {"DequantizeLinear", "", 10, latest, dequantizeLinear},
    {"DynamicQuantizeLinear", "", 11, latest, dynamicQuantizeLinear},
    // Sort
    {"TopK", "", 1, latest, topK},
    {"ArgMax", "", 1, latest, argMax},
    {"ArgMin", "", 1, latest, argMin},
    {"CumSum", "", 11, latest, cumSum},
    {"CumProd", "", 26, latest, cumProd},
    // Detection
    {"NonMaxSuppression", "", 10, latest, nonMaxSuppression},
    // Loss
    {"NegativeLogLikelihoodLoss", "", 12, latest, negativeLogLikelihoodLoss},
    {"SoftmaxCrossEntropyLoss", "", 12, latest, softmaxCrossEntropyLoss},
    // Signal
    {"DFT", "", 17, latest, dft},
    {"STFT", "", 17, latest, stft},
    {"HannWindow", "", 17, latest, cosineWindow},
    {"HammingWindow", "", 17, latest, cosineWindow},
    {"BlackmanWindow", "", 17, latest, cosineWindow},
    {"MelWeightMatrix", "", 17, latest, melWeightMatrix},
    // String
    {"StringConcat", "", 20, latest, stringConcat, Objects::Supported},
    {"StringSplit", "", 20, latest, stringSplit, Objects::Supported},
    {"RegexFullMatch", "", 20, latest, regexFullMatch, Objects::Supported},
    {"StringNormalizer", "", 10, latest, stringNormalizer, Objects::Supported},
    {"Tokenizer", "com.microsoft", 1, latest, tokenizer, Objects::Supported},
    // Sequence
    {"SequenceConstruct", "", 11, latest, sequenceConstruct, Objects::Supported},
    {"SequenceEmpty", "", 11, latest, sequenceEmpty},
    {"SequenceAt", "", 11, latest, sequenceAt, Objects::Supported},
    {"SequenceInsert", "", 11, latest, sequenceInsert, Objects::Supported},
    {"SequenceErase", "", 11, latest, sequenceErase, Objects::Supported},
    {"SequenceLength", "", 11, latest, sequenceLength, Objects::Supported},
    {"SplitToSequence", "", 11, latest, splitToSequence, Objects::Supported},
    {"ConcatFromSequence", "", 11, latest, concatFromSequence, Objects::Supported},
    {"Optional", "", 15, latest, makeOptional, Objects::Supported},
    {"OptionalHasElement", "", 15, latest, optionalHasElement, Objects::Supported},
    {"OptionalGetElement", "", 15, latest, optionalGetElement, Objects::Supported},
    // Linear
    {"Det", "", 11, latest, det},
    // Random
    {"RandomUniform", "", 1, latest, randomUniform},
    {"RandomNormal", "", 1, latest, randomNormal},
    {"RandomUniformLike", "", 1, latest, randomUniformLike},
    {"RandomNormalLike", "", 1, latest, randomNormalLike},
    {"Bernoulli", "", 15, latest, bernoulli},
    {"Multinomial", "", 7, latest, multinomial},
    // Text
    {"TfIdfVectorizer", "", 9, latest, tfIdfVectorizer, Objects::Supported},
    // Training
    {"Adagrad", "ai.onnx.preview.training", 1, latest, adagrad},
    {"Adam", "ai.onnx.preview.training", 1, latest, adam},
    {"Momentum", "ai.onnx.preview.training", 1, latest, momentum},
    // Legacy: experimental operators of opset 1, which models of later opsets use too.
    {"Affine", "", 1, latest, affine},
    {"ConstantFill", "", 1, latest, constantFill},
    {"Crop", "", 1, latest, crop},
    {"GivenTensorFill", "", 1, latest, givenTensorFill},
    {"ImageScaler", "", 1, latest, imageScaler},
    {"ParametricSoftplus", "", 1, latest, parametricSoftplus},
    {"Scale", "", 1, latest, scaleOp},
    {"ScaledTanh", "", 1, latest, scaledTanh},
    // Attention
    {"Attention", "", 23, latest, attention},
    {"RotaryEmbedding", "", 23, latest, rotaryEmbedding},
    {"LinearAttention", "", 27, latest, linearAttention},
    // com.microsoft: fused operators, and copies of standard ones
    {"SimplifiedLayerNormalization", "", 1, latest, simplifiedLayerNormalization},
    {"EmbedLayerNormalization", "com.microsoft", 1, latest, embedLayerNormalization},
    {"FusedMatMul", "com.microsoft", 1, latest, fusedMatMul},
    {"TransposeMatMul", "com.microsoft", 1, latest, fusedMatMul},
    {"FusedMatMulActivation", "com.microsoft", 1, latest, fusedMatMul},
    {"FusedGemm", "com.microsoft", 1, latest, fusedGemm},
    {"GemmFastGelu", "com.microsoft", 1, latest, gemmFastGelu},
    {"FusedConv", "com.microsoft", 1, latest, fusedConv},
    {"NhwcFusedConv", "com.microsoft", 1, latest, nhwcConv},
    {"NhwcConv", "com.microsoft", 1, latest, nhwcConv},
    {"NhwcMaxPool", "com.microsoft", 1, latest, nhwcMaxPool},
    {"ConvTransposeWithDynamicPads", "com.microsoft", 1, latest, convTransposeWithDynamicPads},
    {"BiasSoftmax", "com.microsoft", 1, latest, biasSoftmax},
    {"BiasSplitGelu", "com.microsoft", 1, latest, biasSplitGelu},
    {"BiasAdd", "com.microsoft", 1, latest, biasAdd},
    {"GroupNorm", "com.microsoft", 1, latest, channelGroupNorm},
    {"SkipGroupNorm", "com.microsoft", 1, latest, channelGroupNorm},
    {"Inverse", "com.microsoft", 1, latest, inverse},
    {"ExpandDims", "com.microsoft", 1, latest, expandDims},
    {"Pad", "com.microsoft", 1, latest, contribPad},
    {"Unique", "com.microsoft", 1, latest, contribUnique},
    {"NGramRepeatBlock", "com.microsoft", 1, latest, nGramRepeatBlock},
    {"CropAndResize", "com.microsoft", 1, latest, cropAndResize},
    {"GatherND", "com.microsoft", 1, latest, asStandard<13>},
    {"Trilu", "com.microsoft", 1, latest, asStandard<14>},
    {"GridSample", "com.microsoft", 1, latest, asStandard<16>},
    {"Range", "com.microsoft", 1, latest, asStandard<11>},
    {"QuantizeLinear", "com.microsoft", 1, latest, asStandard<21>},
    {"DequantizeLinear", "com.microsoft", 1, latest, asStandard<21>},
    {"Attention", "com.microsoft", 1, latest, contribAttention},
    {"MultiHeadAttention", "com.microsoft", 1, latest, multiHeadAttention},
    {"GroupQueryAttention", "com.microsoft", 1, latest, groupQueryAttention},
    {"RotaryEmbedding", "com.microsoft", 1, latest, contribRotaryEmbedding},
    {"QAttention", "com.microsoft", 1, latest, quantizedAttention},
    {"QLinearAdd", "com.microsoft", 1, latest, qLinearBinary},
    {"QLinearMul", "com.microsoft", 1, latest, qLinearBinary},
    {"QLinearSigmoid", "com.microsoft", 1, latest, qLinearUnary},
    {"QLinearLeakyRelu", "com.microsoft", 1, latest, qLinearUnary},
    {"QLinearSoftmax", "com.microsoft", 1, latest, qLinearSoftmax},
    {"QLinearWhere", "com.microsoft", 1, latest, qLinearWhere},
    {"QLinearConcat", "com.microsoft", 1, latest, qLinearConcat},
    {"QLinearAveragePool", "com.microsoft", 1, latest, qLinearPool},
    {"QLinearGlobalAveragePool", "com.microsoft", 1, latest, qLinearPool},
    {"QLinearReduceMean", "com.microsoft", 1, latest, qLinearReduceMean},
    {"QLinearConv", "com.microsoft", 1, latest, contribQLinearConv},
    {"QGemm", "com.microsoft", 1, latest, qGemm},
    {"MatMulIntegerToFloat", "com.microsoft", 1, latest, matMulIntegerToFloat},
    {"DynamicQuantizeLSTM", "com.microsoft", 1, latest, dynamicQuantizeLstm},
    {"DynamicQuantizeMatMul", "com.microsoft", 1, latest, dynamicQuantizeMatMul},
    {"MatMulNBits", "com.microsoft", 1, latest, matMulNBits},
    {"GatherBlockQuantized", "com.microsoft", 1, latest, gatherBlockQuantized},
    // ai.onnx.ml
    {"TreeEnsembleRegressor", "ai.onnx.ml", 1, latest, treeEnsembleRegressor},
    {"TreeEnsembleClassifier", "ai.onnx.ml", 1, latest, treeEnsembleClassifier},
    {"TreeEnsemble", "ai.onnx.ml", 5, latest, treeEnsemble},
    {"LinearRegressor", "ai.onnx.ml", 1, latest, linearRegressor},
    {"LinearClassifier", "ai.onnx.ml", 1, latest, linearClassifier},
    {"SVMRegressor", "ai.onnx.ml", 1, latest, svmRegressor},
    {"SVMClassifier", "ai.onnx.ml", 1, latest, svmClassifier},
    {"Scaler", "ai.onnx.ml", 1, latest, scaler},
    {"Normalizer", "ai.onnx.ml", 1, latest, normalizer},
    {"Imputer", "ai.onnx.ml", 1, latest, imputer},
    {"Binarizer", "ai.onnx.ml", 1, latest, binarizer},
    {"LabelEncoder", "ai.onnx.ml", 1, latest, labelEncoder, Objects::Supported},
    {"CategoryMapper", "ai.onnx.ml", 1, latest, categoryMapper, Objects::Supported},
    {"OneHotEncoder", "ai.onnx.ml", 1, latest, oneHotEncoder, Objects::Supported},
    {"ZipMap", "ai.onnx.ml", 1, latest, zipMap},
    {"DictVectorizer", "ai.onnx.ml", 1, latest, dictVectorizer, Objects::Supported},
    {"FeatureVectorizer", "ai.onnx.ml", 1, latest, featureVectorizer},
    {"ArrayFeatureExtractor", "ai.onnx.ml", 1, latest, arrayFeatureExtractor, Objects::AsRanks},
};

static_assert(std::ranges::all_of(table, [](const TableRow &row) {
  return row.first <= row.last && (!row.domain.empty() || row.last <= latest);
}));

static const TableRow *find(std::string_view op, std::string_view domain, int64_t opset) {
  if (domain == "ai.onnx")
    domain = "";
  for (const TableRow &row : table)
    if (row.op == op && row.domain == domain && row.first <= opset && opset <= row.last)
      return &row;
  return nullptr;
}

Kernel findKernel(std::string_view op, std::string_view domain, int64_t opset) {
  const TableRow *row = find(op, domain, opset);
  return row ? row->kernel : nullptr;
}

static std::vector<Tensor> run(const TableRow &row, const ReferenceCall &node, std::span<const Tensor> inputs) {
  auto object =
      std::ranges::find_if(inputs, [](const Tensor &input) { return input.defined() && isObject(input.type()); });
  if (object != inputs.end() && row.objects != Objects::Supported) {
    bool asRanks = row.objects != Objects::Refused && object->type() == DType::String;
    if (!asRanks)
      unsupported(fmt::format("it has no kernel for a {}", name(object->type())));
    size_t outputs = row.objects == Objects::AsRanks ? node.outputCount : row.objects == Objects::FirstAsRanks ? 1 : 0;
    return runOnRanks(row.kernel, node, inputs, outputs);
  }
  Call call(node, inputs);
  row.kernel(call);
  return call.takeOutputs();
}

} // namespace reference

bool hasReference(std::string_view op, std::string_view domain, int64_t opset) {
  return reference::find(op, domain, opset) != nullptr;
}

Expected<std::vector<Tensor>> evaluate(const ReferenceCall &node, std::span<const Tensor> inputs) {
  const reference::TableRow *row = reference::find(node.op, node.domain, node.opset);
  if (!row)
    return Status(Code::Unsupported, fmt::format("{}{}{} of opset {} has no reference kernel", node.domain,
                                                 node.domain.empty() ? "" : ".", node.op, node.opset));
  auto failure = [&](Code code, std::string_view message) {
    return Status(code, fmt::format("{}: {}", node.op, message));
  };
  try {
    std::vector<Tensor> outputs = reference::run(*row, node, inputs);
    // Drops optional outputs that the node does not list; listed ones that the kernel does not fill stay undefined.
    outputs.resize(node.outputCount);
    return outputs;
  } catch (const reference::Failure &caught) {
    return failure(caught.status.code(), caught.status.message());
  } catch (const std::bad_alloc &) {
    return failure(Code::Malformed, "the tensors it asks for do not fit into this machine's memory");
  } catch (const std::length_error &) {
    return failure(Code::Malformed, "the tensors it asks for do not fit into this machine's memory");
  }
}

} // namespace tilewright
