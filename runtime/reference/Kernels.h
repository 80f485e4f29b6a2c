// SPDX-License-Identifier: Apache-2.0
// The kernels of the operators, by source file. ReferenceTable.cpp says which operators and opsets they serve.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// The kernel of an operator at an opset of its domain ("" for ai.onnx), or null.
Kernel findKernel(std::string_view op, std::string_view domain, int64_t opset);

// ops/Unary.cpp
void unaryFloat(Call &call);
void absolute(Call &call);
void negate(Call &call);
void sign(Call &call);
void relu(Call &call);
void logicalNot(Call &call);
void bitwiseNot(Call &call);
void isNaN(Call &call);
void isInf(Call &call);
void shrink(Call &call);
void clip(Call &call);
void leakyRelu(Call &call);
void elu(Call &call);
void selu(Call &call);
void celu(Call &call);
void thresholdedRelu(Call &call);
void hardSigmoid(Call &call);
void swish(Call &call);
void gelu(Call &call);
void quickGelu(Call &call);
void biasGelu(Call &call);

// ops/Binary.cpp
void add(Call &call);
void subtract(Call &call);
void multiply(Call &call);
void divide(Call &call);
void modulo(Call &call);
void logicalAnd(Call &call);
void logicalOr(Call &call);
void logicalXor(Call &call);
void equal(Call &call);
void less(Call &call);
void lessOrEqual(Call &call);
void greater(Call &call);
void greaterOrEqual(Call &call);
void bitwiseAnd(Call &call);
void bitwiseOr(Call &call);
void bitwiseXor(Call &call);
void bitShift(Call &call);
void prelu(Call &call);
void power(Call &call);
void sum(Call &call);
void mean(Call &call);
void maximum(Call &call);
void minimum(Call &call);
void swiGlu(Call &call);

// ops/Reduce.cpp
void reduceSum(Call &call);
void reduceProd(Call &call);
void reduceSumSquare(Call &call);
void reduceL1(Call &call);
void reduceL2(Call &call);
void reduceMax(Call &call);
void reduceMin(Call &call);
void reduceMean(Call &call);
void reduceLogSum(Call &call);
void reduceLogSumExp(Call &call);

// ops/MatMul.cpp
void matMul(Call &call);
void gemm(Call &call);
void matMulInteger(Call &call);
void qLinearMatMul(Call &call);

// ops/Einsum.cpp
void einsum(Call &call);

// ops/nn/Conv.cpp
void conv(Call &call);
void convInteger(Call &call);
void qLinearConv(Call &call);
void convTranspose(Call &call);
void col2Im(Call &call);
void causalConvWithState(Call &call);

// ops/nn/Pool.cpp
void maxPool(Call &call);
void averagePool(Call &call);
void lpPool(Call &call);
void globalAveragePool(Call &call);
void globalMaxPool(Call &call);
void globalLpPool(Call &call);
void maxUnpool(Call &call);
void maxRoiPool(Call &call);

// ops/nn/Normalization.cpp
void batchNormalization(Call &call);
void instanceNormalization(Call &call);
void groupNormalization(Call &call);
void layerNormalization(Call &call);
void rmsNormalization(Call &call);
void lrn(Call &call);
void lpNormalization(Call &call);
void meanVarianceNormalization(Call &call);
void skipLayerNormalization(Call &call);

// ops/nn/Softmax.cpp
void softmax(Call &call);
void logSoftmax(Call &call);
void hardmax(Call &call);

// ops/Reshape.cpp
void identity(Call &call);
void reshape(Call &call);
void squeeze(Call &call);
void unsqueeze(Call &call);
void flatten(Call &call);
void shapeOp(Call &call);
void size(Call &call);
void constant(Call &call);
void constantOfShape(Call &call);
void range(Call &call);
void eyeLike(Call &call);

// ops/Move.cpp
void transposeOp(Call &call);
void expand(Call &call);
void tile(Call &call);
void concat(Call &call);
void split(Call &call);
void slice(Call &call);
void pad(Call &call);
void centerCropPad(Call &call);
void depthToSpace(Call &call);
void spaceToDepth(Call &call);
void where(Call &call);
void trilu(Call &call);
void reverseSequence(Call &call);

// ops/Gather.cpp
void gather(Call &call);
void gatherElements(Call &call);
void gatherND(Call &call);
void scatterElements(Call &call);
void scatterND(Call &call);
void tensorScatter(Call &call);
void oneHot(Call &call);
void compress(Call &call);
void nonZero(Call &call);
void unique(Call &call);

// ops/nn/Resize.cpp
void resize(Call &call);

// ops/nn/Grid.cpp
void gridSample(Call &call);
void affineGrid(Call &call);
void roiAlign(Call &call);
void deformConv(Call &call);

// ops/nn/Recurrent.cpp
void rnn(Call &call);
void gru(Call &call);
void lstm(Call &call);

// ops/Quantize.cpp
void quantizeLinear(Call &call);
void dequantizeLinear(Call &call);
void dynamicQuantizeLinear(Call &call);

// ops/Sort.cpp
void topK(Call &call);
void argMax(Call &call);
void argMin(Call &call);
void cumSum(Call &call);
void cumProd(Call &call);

// ops/nn/Detection.cpp
void nonMaxSuppression(Call &call);

// ops/nn/Loss.cpp
void negativeLogLikelihoodLoss(Call &call);
void softmaxCrossEntropyLoss(Call &call);

// ops/nn/Signal.cpp
void dft(Call &call);
void stft(Call &call);
void cosineWindow(Call &call);
void melWeightMatrix(Call &call);

// ops/Linear.cpp
void det(Call &call);

// ops/nn/Attention.cpp
void attention(Call &call);
void rotaryEmbedding(Call &call);
void linearAttention(Call &call);

// ops/contrib/Fused.cpp: com.microsoft
void simplifiedLayerNormalization(Call &call);
void embedLayerNormalization(Call &call);
void fusedMatMul(Call &call);
void fusedGemm(Call &call);
void fusedConv(Call &call);
void nhwcConv(Call &call);
void nhwcMaxPool(Call &call);
void biasSoftmax(Call &call);
void biasSplitGelu(Call &call);
void biasAdd(Call &call);
void channelGroupNorm(Call &call);
void gemmFastGelu(Call &call);
void inverse(Call &call);
void expandDims(Call &call);
void contribPad(Call &call);
void contribUnique(Call &call);
void nGramRepeatBlock(Call &call);
void cropAndResize(Call &call);
void convTransposeWithDynamicPads(Call &call);

// ops/contrib/FusedAttention.cpp: com.microsoft
void contribAttention(Call &call);
void multiHeadAttention(Call &call);
void groupQueryAttention(Call &call);
void contribRotaryEmbedding(Call &call);
void quantizedAttention(Call &call);

// ops/contrib/QuantizedElementwise.cpp: com.microsoft
void qLinearBinary(Call &call);
void qLinearUnary(Call &call);
void qLinearSoftmax(Call &call);
void qLinearWhere(Call &call);
void qLinearConcat(Call &call);
void qLinearPool(Call &call);
void qLinearReduceMean(Call &call);
void contribQLinearConv(Call &call);

// ops/contrib/QuantizedProducts.cpp: com.microsoft
void qGemm(Call &call);
void matMulIntegerToFloat(Call &call);
void dynamicQuantizeLstm(Call &call);
void dynamicQuantizeMatMul(Call &call);
void matMulNBits(Call &call);
void gatherBlockQuantized(Call &call);

// ops/ml/Trees.cpp: ai.onnx.ml
void treeEnsembleRegressor(Call &call);
void treeEnsembleClassifier(Call &call);
void treeEnsemble(Call &call);

// ops/ml/LinearModels.cpp: ai.onnx.ml
void linearRegressor(Call &call);
void linearClassifier(Call &call);
void svmRegressor(Call &call);
void svmClassifier(Call &call);

// ops/ml/Features.cpp: ai.onnx.ml
void scaler(Call &call);
void normalizer(Call &call);
void imputer(Call &call);
void binarizer(Call &call);
void featureVectorizer(Call &call);
void arrayFeatureExtractor(Call &call);

// ops/ml/Encoders.cpp: ai.onnx.ml
void labelEncoder(Call &call);
void categoryMapper(Call &call);
void oneHotEncoder(Call &call);
void zipMap(Call &call);
void dictVectorizer(Call &call);

// ops/Cast.cpp
void cast(Call &call);
void castLike(Call &call);
void bitCast(Call &call);

// ops/Random.cpp
void randomUniform(Call &call);
void randomNormal(Call &call);
void randomUniformLike(Call &call);
void randomNormalLike(Call &call);
void bernoulli(Call &call);
void multinomial(Call &call);
void dropout(Call &call);

// ops/ml/Text.cpp
void tfIdfVectorizer(Call &call);

// ops/nn/Training.cpp: ai.onnx.preview.training
void adagrad(Call &call);
void adam(Call &call);
void momentum(Call &call);

// ops/Legacy.cpp
void affine(Call &call);
void scaledTanh(Call &call);
void parametricSoftplus(Call &call);
void scaleOp(Call &call);
void imageScaler(Call &call);
void crop(Call &call);
void constantFill(Call &call);
void givenTensorFill(Call &call);

// ops/ml/String.cpp
void stringConcat(Call &call);
void stringSplit(Call &call);
void stringNormalizer(Call &call);

// ops/ml/Regex.cpp
void regexFullMatch(Call &call);
void tokenizer(Call &call);

// ops/ml/Sequence.cpp
void sequenceConstruct(Call &call);
void sequenceEmpty(Call &call);
void sequenceAt(Call &call);
void sequenceInsert(Call &call);
void sequenceErase(Call &call);
void sequenceLength(Call &call);
void splitToSequence(Call &call);
void concatFromSequence(Call &call);
void makeOptional(Call &call);
void optionalHasElement(Call &call);
void optionalGetElement(Call &call);

} // namespace tilewright::reference
