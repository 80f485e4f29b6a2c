// SPDX-License-Identifier: Apache-2.0
// The table of demo models.
#include "models/Demos.h"

namespace tilewright::models {

static constexpr Demo table[] = {
    {"mlp", "three layers with bias and GELU; dynamic batch", DType::F32, buildMlp},
    {"mlp_fp16", "the same in half precision", DType::F16, buildMlp},
    {"encoder", "four layers of a transformer encoder; dynamic batch and sequence", DType::F32, buildEncoder},
    {"encoder_fp16", "the same in half precision", DType::F16, buildEncoder},
    {"encoder_decomposed", "the encoder with LayerNorm, Softmax and GELU spelled in primitives", DType::F32,
     buildEncoderDecomposed},
    {"cnn", "a residual CNN with batch norm; dynamic batch", DType::F32, buildCnn},
    {"swiglu", "RMS norm, SwiGLU MLP and residual; dynamic batch and sequence", DType::F32, buildSwiglu},
    {"elementwise", "a chain of twelve elementwise nodes; dynamic rows and columns", DType::F32, buildElementwise},
    {"norm", "residual, LayerNorm, GELU, LayerNorm; dynamic rows", DType::F32, buildNorm},
    {"softmax", "scale, bias, softmax, scale; dynamic rows and columns", DType::F32, buildSoftmax},
    {"matmul_1024", "matmul, bias, GELU, 1024 cubed", DType::F32, buildMatmul<1024>},
    {"matmul_2048", "matmul, bias, GELU, 2048 cubed", DType::F32, buildMatmul<2048>},
    {"matmul_4096", "matmul, bias, GELU, 4096 cubed", DType::F32, buildMatmul<4096>},
    {"matmul_1024_fp16", "the same in half precision", DType::F16, buildMatmul<1024>},
    {"matmul_2048_fp16", "the same in half precision", DType::F16, buildMatmul<2048>},
    {"matmul_4096_fp16", "the same in half precision", DType::F16, buildMatmul<4096>},
    {"product", "a matmul of two inputs; dynamic rows, columns and depth", DType::F32, buildProduct},
    {"product_fp16", "the same in half precision", DType::F16, buildProduct},
    {"elementwise_fp16", "the elementwise chain in half precision", DType::F16, buildElementwise},
    {"norm_fp16", "the norm chain in half precision", DType::F16, buildNorm},
    {"softmax_fp16", "the softmax chain in half precision", DType::F16, buildSoftmax},
};

std::span<const Demo> demos() { return table; }

} // namespace tilewright::models
