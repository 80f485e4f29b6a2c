// SPDX-License-Identifier: Apache-2.0
// The handlers: one function for each operator, by family.
#pragma once

#include "frontend/builder/NodeBuilder.h"

#include <cmath>
#include <limits>

namespace tilewright::ops {

// Elementwise.cpp
void add(NodeBuilder &), sub(NodeBuilder &), mul(NodeBuilder &), div(NodeBuilder &), neg(NodeBuilder &),
    abs(NodeBuilder &), reciprocal(NodeBuilder &);
void sum(NodeBuilder &), max(NodeBuilder &), min(NodeBuilder &), mean(NodeBuilder &), mod(NodeBuilder &),
    pow(NodeBuilder &);
void equal(NodeBuilder &), lessThan(NodeBuilder &), lessOrEqual(NodeBuilder &), greaterThan(NodeBuilder &),
    greaterOrEqual(NodeBuilder &);
void bitAnd(NodeBuilder &), bitOr(NodeBuilder &), bitXor(NodeBuilder &), bitNot(NodeBuilder &), bitShift(NodeBuilder &);
void isNaN(NodeBuilder &), isInf(NodeBuilder &), where(NodeBuilder &);
void exp(NodeBuilder &), log(NodeBuilder &), sqrt(NodeBuilder &), sin(NodeBuilder &), cos(NodeBuilder &),
    tan(NodeBuilder &), erf(NodeBuilder &), tanh(NodeBuilder &);
void asin(NodeBuilder &), acos(NodeBuilder &), atan(NodeBuilder &), sinh(NodeBuilder &), cosh(NodeBuilder &),
    asinh(NodeBuilder &), acosh(NodeBuilder &), atanh(NodeBuilder &);
void floor(NodeBuilder &), ceil(NodeBuilder &), round(NodeBuilder &), sign(NodeBuilder &);
void relu(NodeBuilder &), sigmoid(NodeBuilder &), softplus(NodeBuilder &), softsign(NodeBuilder &),
    hardSwish(NodeBuilder &), mish(NodeBuilder &);
void swish(NodeBuilder &), gelu(NodeBuilder &), biasGelu(NodeBuilder &), fastGelu(NodeBuilder &),
    hardSigmoid(NodeBuilder &), leakyRelu(NodeBuilder &);
void prelu(NodeBuilder &), thresholdedRelu(NodeBuilder &), elu(NodeBuilder &), selu(NodeBuilder &), celu(NodeBuilder &),
    shrink(NodeBuilder &);
void quickGelu(NodeBuilder &), swiGlu(NodeBuilder &);
void clipAttributes(NodeBuilder &), clipInputs(NodeBuilder &), cast(NodeBuilder &), castLike(NodeBuilder &),
    bitCast(NodeBuilder &), identity(NodeBuilder &), dropout(NodeBuilder &);
// Legacy.cpp
void affine(NodeBuilder &), crop(NodeBuilder &), imageScaler(NodeBuilder &), scaleOp(NodeBuilder &),
    scaledTanh(NodeBuilder &);
// MatMul.cpp
void matmul(NodeBuilder &), matmulInteger(NodeBuilder &), qlinearMatmul(NodeBuilder &), gemm(NodeBuilder &),
    einsum(NodeBuilder &);
// shape/Reshape.cpp, shape/Slice.cpp, shape/Pad.cpp, shape/Coordinates.cpp, shape/RunTimeShape.cpp
void reshape(NodeBuilder &), flatten(NodeBuilder &), squeeze(NodeBuilder &), unsqueeze(NodeBuilder &),
    transpose(NodeBuilder &), expand(NodeBuilder &);
void tile(NodeBuilder &), slice(NodeBuilder &), split(NodeBuilder &), concat(NodeBuilder &), pad(NodeBuilder &),
    depthToSpace(NodeBuilder &);
void centerCropPad(NodeBuilder &), spaceToDepth(NodeBuilder &), trilu(NodeBuilder &), eyeLike(NodeBuilder &),
    oneHot(NodeBuilder &), constantOfShape(NodeBuilder &), range(NodeBuilder &);
// Gather.cpp
void gather(NodeBuilder &), gatherElements(NodeBuilder &), gatherND(NodeBuilder &), reverseSequence(NodeBuilder &);
// shape/Scatter.cpp
void scatterND(NodeBuilder &), scatterElements(NodeBuilder &);
// shape/CacheScatter.cpp
void tensorScatter(NodeBuilder &);
// image/Grid.cpp
void gridSample(NodeBuilder &), affineGrid(NodeBuilder &), roiAlign(NodeBuilder &);
// Reduce.cpp
void reduceSum(NodeBuilder &), reduceProd(NodeBuilder &), reduceMax(NodeBuilder &), reduceMin(NodeBuilder &),
    reduceMean(NodeBuilder &);
void reduceSumSquare(NodeBuilder &), reduceL1(NodeBuilder &), reduceL2(NodeBuilder &), reduceLogSum(NodeBuilder &),
    reduceLogSumExp(NodeBuilder &);
void argMax(NodeBuilder &), argMin(NodeBuilder &), hardmax(NodeBuilder &), cumSum(NodeBuilder &),
    cumProd(NodeBuilder &);
// Normalization.cpp
void softmax(NodeBuilder &), logSoftmax(NodeBuilder &), layerNormalization(NodeBuilder &),
    rmsNormalization(NodeBuilder &);
void skipLayerNormalization(NodeBuilder &), skipSimplifiedLayerNormalization(NodeBuilder &);
void instanceNormalization(NodeBuilder &), groupNormalization(NodeBuilder &), batchNormalization(NodeBuilder &);
void lrn(NodeBuilder &), lpNormalization(NodeBuilder &), meanVarianceNormalization(NodeBuilder &);
// image/Conv.cpp
void conv(NodeBuilder &), convInteger(NodeBuilder &), qlinearConv(NodeBuilder &);
// image/ConvTranspose.cpp
void convTranspose(NodeBuilder &);
// image/Pool.cpp
void maxPool(NodeBuilder &), averagePool(NodeBuilder &), lpPool(NodeBuilder &);
void globalAveragePool(NodeBuilder &), globalMaxPool(NodeBuilder &), globalLpPool(NodeBuilder &);
// Quantize.cpp
void quantizeLinear(NodeBuilder &), dequantizeLinear(NodeBuilder &), dynamicQuantizeLinear(NodeBuilder &);
/// round(y) + zero point (an input), saturated to the zero point's type.
Term requantized(NodeBuilder &b, Term y, size_t zeroPoint);
// Attention.cpp
void attention(NodeBuilder &), rotaryEmbedding(NodeBuilder &);
// Loss.cpp
void negativeLogLikelihoodLoss(NodeBuilder &), softmaxCrossEntropyLoss(NodeBuilder &);
// Recurrent.cpp
void rnnStep(NodeBuilder &), gruStep(NodeBuilder &), lstmStep(NodeBuilder &);
void recurrence(NodeBuilder &), recurrentLengths(NodeBuilder &), recurrentInputs(NodeBuilder &),
    recurrentState(NodeBuilder &), recurrentCell(NodeBuilder &), stackSteps(NodeBuilder &),
    recurrentResult(NodeBuilder &);
/// The activations that a recurrence names, and whether each of them is compiled.
std::vector<std::string> activationNames(NodeBuilder &);
bool areCompiledActivations(NodeBuilder &);
// Sort.cpp
void topK(NodeBuilder &);
// Training.cpp: ai.onnx.preview.training
void adagrad(NodeBuilder &), adam(NodeBuilder &), momentum(NodeBuilder &);
// image/Resize.cpp
void resize(NodeBuilder &), upsample(NodeBuilder &);

// contrib/Fused.cpp: com.microsoft
void fusedMatMul(NodeBuilder &), fusedGemm(NodeBuilder &), gemmFastGelu(NodeBuilder &), fusedConv(NodeBuilder &),
    nhwcConv(NodeBuilder &), nhwcMaxPool(NodeBuilder &);
void channelGroupNorm(NodeBuilder &), embedLayerNormalization(NodeBuilder &), biasSoftmax(NodeBuilder &),
    biasSplitGelu(NodeBuilder &), biasAdd(NodeBuilder &), expandDims(NodeBuilder &);
// contrib/FusedAttention.cpp: com.microsoft
void contribAttention(NodeBuilder &), quantizedAttention(NodeBuilder &), multiHeadAttention(NodeBuilder &),
    groupQueryAttention(NodeBuilder &), contribRotaryEmbedding(NodeBuilder &);
// contrib/QuantizedFused.cpp: com.microsoft
void qLinearBinary(NodeBuilder &), qLinearUnary(NodeBuilder &), qLinearSoftmax(NodeBuilder &),
    qLinearWhere(NodeBuilder &), qLinearConcat(NodeBuilder &), qLinearPool(NodeBuilder &),
    qLinearReduceMean(NodeBuilder &), contribQLinearConv(NodeBuilder &);
void qGemm(NodeBuilder &), matMulIntegerToFloat(NodeBuilder &), dynamicQuantizeMatMul(NodeBuilder &),
    matMulNBits(NodeBuilder &), gatherBlockQuantized(NodeBuilder &);

} // namespace tilewright::ops
