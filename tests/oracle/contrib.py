#!/usr/bin/env python3
"""Writes one-node models of com.microsoft and ai.onnx.ml with ONNX Runtime's outputs, as folders that `tilewright test` reads.

    tests/oracle/contrib.py OUT [--rounds N] [--only OP]      then      tilewright test OUT

Shapes, attributes and numbers are random by a fixed seed. Needs Python with onnx and onnxruntime (scripts/setup says how).
"""
import argparse
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


class Node:
    """An operator with inputs: arrays, `const(array)` for initializers, None for absent ones."""

    def __init__(self, op, inputs, outputs=1, domain="com.microsoft", opset=17, version=1, **attributes):
        self.op, self.inputs, self.outputs, self.domain = op, inputs, outputs, domain
        self.opset, self.version, self.attributes = opset, version, attributes


class const:
    def __init__(self, array):
        self.array = np.asarray(array)


def f32(r, *shape, scale=1.0):
    return (r.standard_normal(shape) * scale).astype(np.float32)


def u8(r, *shape):
    return r.integers(0, 256, shape).astype(np.uint8)


def i8(r, *shape):
    return r.integers(-128, 128, shape).astype(np.int8)


def pick(r, *values):
    return values[r.integers(len(values))]


def scale(r, low=0.01, high=0.1):
    return const(np.float32(r.uniform(low, high)))


# ---- Fused floats ------------------------------------------------------------------------------------------------------------


@case
def simplified_layer_normalization(r):
    shape = tuple(r.integers(1, 9, 3))
    return Node("SimplifiedLayerNormalization", [f32(r, *shape), f32(r, shape[-1])], domain="", epsilon=1e-5, axis=-1, outputs=pick(r, 1, 2))


@case
def old_layer_normalization(r):
    shape = tuple(r.integers(1, 9, 3))
    return Node("LayerNormalization", [f32(r, *shape), f32(r, shape[-1]), f32(r, shape[-1])], domain="", opset=11, epsilon=1e-5)


@case
def skip_layer_normalization(r):
    b, s, h = r.integers(1, 9, 3)
    skip = pick(r, (b, s, h), (1, s, h), (s, h))
    return Node("SkipLayerNormalization",
                [f32(r, b, s, h), f32(r, *skip), f32(r, h), pick(r, None, f32(r, h)), pick(r, None, f32(r, h))],
                outputs=pick(r, ["y"], ["y", "", "", "sum"]), epsilon=1e-5)


@case
def skip_simplified_layer_normalization(r):
    b, s, h = r.integers(1, 9, 3)
    return Node("SkipSimplifiedLayerNormalization", [f32(r, b, s, h), f32(r, b, s, h), f32(r, h), pick(r, None, f32(r, h))],
                outputs=pick(r, ["y"], ["y", "", "", "sum"]), epsilon=1e-5)


@case
def embed_layer_normalization(r):
    b, s, h, segments = r.integers(1, 5), r.integers(1, 9), r.integers(1, 20), pick(r, True, False)
    mask = (np.arange(s)[None] < r.integers(0, s + 1, (b, 1))).astype(np.int32)
    return Node("EmbedLayerNormalization",
                [r.integers(0, 11, (b, s)).astype(np.int32), r.integers(0, 2, (b, s)).astype(np.int32) if segments else None,
                 const(f32(r, 11, h)), const(f32(r, 16, h)), const(f32(r, 2, h)) if segments else None, const(f32(r, h)), const(f32(r, h)),
                 pick(r, None, mask), pick(r, None, r.integers(0, 16, (b, s)).astype(np.int32))], outputs=2, epsilon=1e-5)


@case
def gelus(r):
    op, h = pick(r, "Gelu", "FastGelu", "BiasGelu", "QuickGelu"), r.integers(1, 20)
    x = f32(r, 3, 2, h)
    if op == "QuickGelu":
        return Node(op, [x], alpha=float(r.uniform(0.5, 2)))
    return Node(op, [x] + ([f32(r, h)] if op == "BiasGelu" or (op == "FastGelu" and pick(r, 0, 1)) else []))


@case
def fused_matmul(r):
    m, k, n, b, c = r.integers(1, 9, 5)
    ta, tb = pick(r, 0, 1), pick(r, 0, 1)
    if pick(r, 0, 1):
        batch_a, batch_b = pick(r, 0, 1), pick(r, 0, 1)
        matrix_a = [k, m] if ta else [m, k]
        matrix_b = [n, k] if tb else [k, n]
        a, w = [b, c] + matrix_a, [b, c] + matrix_b
        if batch_a:  # the first matrix dimension goes to the front
            a = [matrix_a[0], b, c, matrix_a[1]]
        if batch_b:
            w = [matrix_b[0], b, c, matrix_b[1]]
        return Node("FusedMatMul", [f32(r, *a), f32(r, *w)], transA=ta, transB=tb, transBatchA=batch_a, transBatchB=batch_b,
                    alpha=float(r.uniform(0.5, 2)))
    a, w = ([b, k, m] if ta else [b, m, k]), ([n, k] if tb else [k, n])
    return Node("FusedMatMul", [f32(r, *a), f32(r, *w)], transA=ta, transB=tb, alpha=float(r.uniform(0.5, 2)))


@case
def fused_gemm(r):
    m, k, n = r.integers(1, 9, 3)
    ta, tb, activation = pick(r, 0, 1), pick(r, 0, 1), pick(r, "Relu", "LeakyRelu", "Tanh", "Sigmoid", "HardSigmoid")
    extra = {}
    if activation in ("LeakyRelu", "HardSigmoid"):
        extra["activation_alpha"] = 0.3
    if activation == "HardSigmoid":
        extra["activation_beta"] = 0.4
    return Node("FusedGemm", [f32(r, *((k, m) if ta else (m, k))), f32(r, *((n, k) if tb else (k, n))), pick(r, None, f32(r, n), f32(r, m, n))],
                transA=ta, transB=tb, alpha=0.7, beta=1.3, activation=activation, **extra)


def activation_of(r):
    name = pick(r, "", "Relu", "Tanh", "Sigmoid", "Clip", "LeakyRelu", "HardSigmoid")
    parameters = {"Clip": [-0.5, 0.6], "LeakyRelu": [0.2], "HardSigmoid": [0.3, 0.4]}.get(name)
    attributes = {"activation": name} if name else {}
    if parameters:
        attributes["activation_params"] = parameters
    return attributes


@case
def fused_conv(r):
    n, g, c, m, k = r.integers(1, 3), pick(r, 1, 2), r.integers(1, 4), r.integers(1, 4), pick(r, 1, 3)
    h, w, p = r.integers(4, 9), r.integers(4, 9), k // 2
    attributes = activation_of(r)
    inputs = [f32(r, n, g * c, h, w), const(f32(r, g * m, c, k, k)), const(f32(r, g * m))]
    if pick(r, 0, 1):
        inputs.append(f32(r, n, g * m, h, w))
    return Node("FusedConv", inputs, kernel_shape=[k, k], pads=[p] * 4, group=g, **attributes)


@case
def nhwc_max_pool(r):
    return Node("NhwcMaxPool", [pick(r, u8, i8)(r, 2, 7, 8, 3)], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])


@case
def inverse(r):
    n = r.integers(1, 6)
    return Node("Inverse", [f32(r, 2, n, n) + 3 * np.eye(n, dtype=np.float32)])


@case
def small_copies(r):
    which = r.integers(6)
    if which == 0:
        return Node("ExpandDims", [f32(r, 3, 4), const(np.int32(pick(r, -1, 0, 1, 2)))])
    if which == 1:
        return Node("Pad", [f32(r, 3, 4), const(np.array([1, 0, 2, 1])), const(np.float32(2.5))], mode="constant")
    if which == 2:
        return Node("Unique", [r.integers(0, 5, 9).astype(np.float32)], outputs=3)
    if which == 3:
        return Node("Trilu", [f32(r, 2, 4, 5), const(np.array(pick(r, -1, 0, 2)))], upper=pick(r, 0, 1))
    if which == 4:
        return Node("GatherND", [f32(r, 3, 4, 2), r.integers(0, 3, (2, 2))])
    return Node("GridSample", [f32(r, 1, 2, 4, 5), r.uniform(-1.1, 1.1, (1, 3, 3, 2)).astype(np.float32)], mode=pick(r, "bilinear", "nearest"),
                padding_mode=pick(r, "zeros", "border", "reflection"))


@case
def n_gram_repeat_block(r):
    return Node("NGramRepeatBlock", [r.integers(0, 3, (2, 9)), f32(r, 2, 5)], ngram_size=int(pick(r, 1, 2, 3)))


@case
def crop_and_resize(r):
    corners = np.sort(r.uniform(-0.1, 1.1, (3, 2, 2)), axis=1).reshape(3, 4).astype(np.float32)
    return Node("CropAndResize", [f32(r, 2, 3, 6, 7), corners, r.integers(0, 2, 3).astype(np.int32), const(np.array([3, 4], np.int32))],
                mode=pick(r, "bilinear", "nearest"), extrapolation_value=0.5)


@case
def conv_transpose_with_dynamic_pads(r):
    return Node("ConvTransposeWithDynamicPads", [f32(r, 1, 2, 5, 5), f32(r, 2, 3, 3, 3), const(np.array([1, 1, 1, 0])), f32(r, 3)],
                strides=[2, 2], kernel_shape=[3, 3])


# ---- Attention ---------------------------------------------------------------------------------------------------------------


def mask_of(r, b, s, t, left=True):
    lengths = r.integers(1, t + 1, b).astype(np.int32)
    ones = (np.arange(t)[None] < lengths[:, None]).astype(np.int32)
    forms = [None, lengths, ones, np.broadcast_to(ones[:, None], (b, s, t)).copy()]
    if left:
        forms.append(np.concatenate([lengths, r.integers(0, lengths)]).astype(np.int32))
    return forms[r.integers(len(forms))]


@case
def attention(r):
    b, s, heads, d, hidden = r.integers(1, 4), r.integers(1, 7), r.integers(1, 4), 2 * r.integers(1, 5), r.integers(1, 9)
    past = pick(r, 0, 0, 3)
    inputs = [f32(r, b, s, hidden), const(f32(r, hidden, 3 * heads * d)), const(f32(r, 3 * heads * d)), mask_of(r, b, s, s + past, past == 0)]
    inputs.append(f32(r, 2, b, heads, past, d) if past else None)
    inputs.append(pick(r, None, f32(r, pick(r, 1, b), heads, s, s + past)))
    extra = pick(r, {}, {"scale": 0.3})
    return Node("Attention", inputs, outputs=2 if past else 1, num_heads=int(heads), unidirectional=pick(r, 0, 1), **extra)


@case
def attention_unequal(r):
    b, s, hidden = 2, 5, 8
    return Node("Attention", [f32(r, b, s, hidden), const(f32(r, hidden, 8 + 8 + 12)), const(f32(r, 28))], num_heads=2,
                qkv_hidden_sizes=[8, 8, 12])


@case
def multi_head_attention(r):
    b, s, t, heads, d, dv = r.integers(1, 4), r.integers(1, 7), r.integers(1, 7), r.integers(1, 4), 2 * r.integers(1, 5), r.integers(1, 5)
    form = pick(r, "plain", "past", "cross")  # ONNX Runtime packs queries, keys and values on GPUs only
    extra = pick(r, {}, {"scale": 0.3})
    if form == "past":
        past = 3
        return Node("MultiHeadAttention",
                    [f32(r, b, s, heads * d), f32(r, b, s, heads * d), f32(r, b, s, heads * d), pick(r, None, f32(r, 3 * heads * d)), None,
                     pick(r, None, f32(r, pick(r, 1, b), pick(r, 1, heads), s, s + past)), f32(r, b, heads, past, d), f32(r, b, heads, past, d)],
                    outputs=3, num_heads=int(heads), unidirectional=pick(r, 0, 1), **extra)
    if form == "cross":
        return Node("MultiHeadAttention", [f32(r, b, s, heads * d), f32(r, b, heads, t, d), f32(r, b, heads, t, d)], num_heads=int(heads), **extra)
    mask = mask_of(r, b, s, t, False)
    return Node("MultiHeadAttention",
                [f32(r, b, s, heads * d), f32(r, b, t, heads * d), f32(r, b, t, heads * dv), pick(r, None, f32(r, heads * (2 * d + dv))), mask,
                 pick(r, None, f32(r, pick(r, 1, b), pick(r, 1, heads), s, t))],
                num_heads=int(heads), unidirectional=pick(r, 0, 1) if s == t else 0, **extra)


@case
def group_query_attention(r):
    b, groups, shared, d = r.integers(1, 4), r.integers(1, 3), r.integers(1, 4), 16 * r.integers(1, 3)
    heads = groups * shared
    prompt = pick(r, True, False)
    s = r.integers(1, 7) if prompt or b == 1 else 1
    past = 0 if prompt else r.integers(1, 6)
    total = past + s
    buffer = pick(r, past, past + s + 3)  # what is there, or a buffer of the longest length
    lengths = np.full(b, total - 1, np.int32)  # shorter prompts leave what nobody reads behind them
    if not prompt and b > 1:
        lengths = r.integers(0, total, b).astype(np.int32)
        lengths[0] = total - 1
    packed, rotary = pick(r, True, False), pick(r, True, False)
    query = f32(r, b, s, (heads + 2 * groups) * d) if packed else f32(r, b, s, heads * d)
    keys = None if packed else f32(r, b, s, groups * d)
    values = None if packed else f32(r, b, s, groups * d)
    inputs = [query, keys, values, f32(r, b, groups, buffer, d) if buffer else None, f32(r, b, groups, buffer, d) if buffer else None, lengths,
              const(np.int32(total))]
    if rotary:
        angle = np.outer(np.arange(32), 1 / 100 ** (np.arange(d // 2) / (d // 2)))
        inputs += [const(np.cos(angle).astype(np.float32)), const(np.sin(angle).astype(np.float32))]
    else:
        inputs += [None, None]
    inputs += [None, pick(r, None, f32(r, 1, pick(r, 1, heads), s, total)), pick(r, None, const(f32(r, heads)))]
    extra = pick(r, {}, {"scale": 0.3}, {"softcap": 5.0}, {"local_window_size": int(r.integers(1, 5))}, {"smooth_softmax": 1})
    return Node("GroupQueryAttention", inputs, outputs=3, num_heads=int(heads), kv_num_heads=int(groups), do_rotary=int(rotary),
                rotary_interleaved=pick(r, 0, 1), **extra)


@case
def rotary_embedding(r):
    b, s, heads, d = r.integers(1, 4), r.integers(1, 7), r.integers(1, 4), 8 * r.integers(1, 3)
    part = pick(r, 0, d // 2)
    angle = r.uniform(0, 6, (16, (part or d) // 2))
    x = f32(r, b, s, heads * d) if part or pick(r, 0, 1) else f32(r, b, heads, s, d)
    positions = pick(r, r.integers(0, 16, (b, s)), np.array([r.integers(0, 16 - s)]))
    extra = {"rotary_embedding_dim": int(part), "num_heads": int(heads)} if part else {}
    return Node("RotaryEmbedding", [x, positions, const(np.cos(angle).astype(np.float32)), const(np.sin(angle).astype(np.float32))],
                interleaved=pick(r, 0, 1), **extra)


@case
def quantized_attention(r):
    b, s, heads, d, hidden = r.integers(1, 4), r.integers(1, 7), r.integers(1, 4), 2 * r.integers(1, 5), r.integers(1, 9)
    return Node("QAttention", [u8(r, b, s, hidden), const(pick(r, u8, i8)(r, hidden, 3 * heads * d) // 8), const(f32(r, 3 * heads * d)),
                               const(np.float32(0.01)), const(np.float32(0.02)), pick(r, None, r.integers(1, s + 1, b).astype(np.int32)),
                               const(np.uint8(120))], num_heads=int(heads), unidirectional=pick(r, 0, 1))


# ---- Quantized ---------------------------------------------------------------------------------------------------------------


def zero(r, make):
    return const(make(r))


@case
def q_linear_elementwise(r):
    make = pick(r, u8, i8)
    op = pick(r, "QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu")
    if op in ("QLinearAdd", "QLinearMul"):
        return Node(op, [make(r, 2, 3, 5), scale(r), zero(r, make), pick(r, make(r, 2, 3, 5), make(r, 5), make(r, 2, 1, 5)), scale(r),
                         zero(r, make), scale(r, 0.05, 0.5), zero(r, make)])
    extra = {"alpha": 0.2} if op == "QLinearLeakyRelu" else {}
    return Node(op, [make(r, 2, 30), scale(r), zero(r, make), scale(r, 0.004, 0.05), zero(r, make)], **extra)


@case
def q_linear_softmax(r):
    make = pick(r, u8, i8)
    return Node("QLinearSoftmax", [make(r, 2, 3, 5), scale(r), zero(r, make), const(np.float32(1 / 256)),
                                   const(np.uint8(0) if make is u8 else np.int8(-128))], axis=pick(r, 1, 2, -1), opset_=pick(r, 11, 13))


@case
def q_linear_where(r):
    make = pick(r, u8, i8)
    return Node("QLinearWhere", [r.integers(0, 2, (3, 1)).astype(bool), make(r, 3, 5), scale(r), zero(r, make), make(r, 5), scale(r),
                                 zero(r, make), scale(r), zero(r, make)])


@case
def q_linear_concat(r):
    make = pick(r, u8, i8)
    return Node("QLinearConcat", [scale(r), zero(r, make), make(r, 2, 3), scale(r), zero(r, make), make(r, 2, 4), scale(r), zero(r, make)], axis=1)


@case
def q_linear_pools(r):
    which = r.integers(3)
    if which == 0:
        last = pick(r, 0, 1)
        x = u8(r, 2, 6, 7, 3) if last else u8(r, 2, 3, 6, 7)
        return Node("QLinearGlobalAveragePool", [x, scale(r), zero(r, u8), scale(r), zero(r, u8)], channels_last=last)
    if which == 1:
        return Node("QLinearAveragePool", [u8(r, 2, 3, 6, 7), scale(r), zero(r, u8), scale(r), zero(r, u8)], kernel_shape=[3, 2], strides=[2, 1],
                    pads=[1, 0, 1, 1], count_include_pad=pick(r, 0, 1))
    return Node("QLinearReduceMean", [u8(r, 2, 3, 5), scale(r), zero(r, u8), scale(r), zero(r, u8)], axes=[pick(r, 1, -1)], keepdims=pick(r, 0, 1))


@case
def q_linear_conv_last(r):
    return Node("QLinearConv", [u8(r, 1, 5, 6, 4), const(np.float32(0.02)), zero(r, u8), const(i8(r, 3, 4, 3, 3)),
                                const(r.uniform(0.01, 0.03, 3).astype(np.float32)), const(np.zeros(3, np.int8)), const(np.float32(0.3)), zero(r, u8),
                                const(r.integers(-500, 500, 3).astype(np.int32))], channels_last=1, pads=[1, 1, 1, 1])


@case
def q_gemm(r):
    m, k, n = r.integers(1, 9, 3)
    per = pick(r, (), (n,))
    quantized = pick(r, True, False)
    turned = pick(r, 0, 1)
    return Node("QGemm", [u8(r, m, k), scale(r), zero(r, u8), const(i8(r, *((n, k) if turned else (k, n)))),
                          const(r.uniform(0.01, 0.1, per).astype(np.float32)), const(i8(r, *per)),
                          pick(r, None, const(r.integers(-900, 900, n).astype(np.int32)))] +
                ([const(np.float32(0.5)), zero(r, u8)] if quantized else []), alpha=float(pick(r, 1, 0.5)), transB=turned)


@case
def mat_mul_integer_to_float(r):
    m, k, n = r.integers(1, 9, 3)
    per = pick(r, (1,), (n,))
    return Node("MatMulIntegerToFloat", [u8(r, 2, m, k), const(i8(r, k, n)), scale(r), const(r.uniform(0.01, 0.1, per).astype(np.float32)),
                                         zero(r, u8), pick(r, None, const(i8(r, *per))), pick(r, None, const(f32(r, n)))])


@case
def dynamic_quantize_mat_mul(r):
    m, k, n = r.integers(1, 9), 8 * r.integers(1, 5), r.integers(1, 9)
    per = pick(r, (1,), (n,))
    return Node("DynamicQuantizeMatMul", [f32(r, 2, m, k), const(i8(r, k, n) // 2), const(r.uniform(0.01, 0.1, per).astype(np.float32)),
                                          pick(r, None, const(i8(r, *per) // 8)), pick(r, None, const(f32(r, n)))])


@case
def dynamic_quantize_lstm(r):
    # Long enough for a wrong last bit to become another byte, which no tolerance forgives.
    steps, batch, width, hidden = r.integers(1, 40), r.integers(1, 3), 8 * r.integers(1, 9), 16 * r.integers(1, 9)
    direction = pick(r, "forward", "reverse", "bidirectional")
    d, bytes_ = 2 if direction == "bidirectional" else 1, pick(r, u8, i8)
    weights = [const(bytes_(r, d, width, 4 * hidden)), const(bytes_(r, d, hidden, 4 * hidden))]
    zero = const(np.full(d, 128 if bytes_ is u8 else 0, weights[0].array.dtype))
    per = const(r.uniform(0.001, 0.006, d).astype(np.float32))
    state = lambda: pick(r, None, f32(r, d, batch, hidden))
    return Node("DynamicQuantizeLSTM", [f32(r, steps, batch, width), *weights, pick(r, None, const(f32(r, d, 8 * hidden, scale=0.1))), None, state(), state(),
                                        pick(r, None, const(f32(r, d, 3 * hidden, scale=0.1))), per, zero, per, zero],
                outputs=3, hidden_size=int(hidden), direction=direction)


@case
def mat_mul_n_bits(r):
    bits, block = pick(r, 4, 4, 8, 2), pick(r, 16, 32, 64)
    m, k, n = r.integers(1, 5), pick(r, 32, 64, 96, 100), r.integers(1, 20)
    blocks = -(-k // block)
    zeros = pick(r, None, const(u8(r, n * -(-blocks * bits // 8)).reshape(n, -1)), const(r.uniform(0, 15, (n, blocks)).astype(np.float32)))
    return Node("MatMulNBits", [f32(r, 2, m, k), const(u8(r, n, blocks, block * bits // 8)), const(r.uniform(0.01, 0.1, (n, blocks)).astype(np.float32)),
                                zeros, None, pick(r, None, const(f32(r, n)))], K=int(k), N=int(n), bits=int(bits), block_size=int(block))


@case
def gather_block_quantized(r):
    bits = pick(r, 4, 8)
    rows, width, block = r.integers(2, 9), 64, pick(r, 16, 32)
    packed = width * bits // 8
    zeros = pick(r, None, const(u8(r, rows, -(-(width // block) * bits // 8))))
    return Node("GatherBlockQuantized", [const(u8(r, rows, packed)), r.integers(0, rows, (2, 3)), const(r.uniform(0.01, 0.1, (rows, width // block)).astype(np.float32)),
                                         zeros], gather_axis=0, quantize_axis=1, block_size=int(block), bits=int(bits))


# ---- ai.onnx.ml --------------------------------------------------------------------------------------------------------------


def forest(r, trees, depth, features, targets, kind, positive=False):
    """Complete trees by ids; each leaf votes for one target, or for all."""
    a = {k: [] for k in ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_values", "nodes_modes", "nodes_truenodeids",
                         "nodes_falsenodeids", "nodes_missing_value_tracks_true", f"{kind}_treeids", f"{kind}_nodeids", f"{kind}_ids",
                         f"{kind}_weights")}
    mode = pick(r, "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")
    every = pick(r, True, False)
    for t in range(trees):
        inner = 2 ** depth - 1
        for i in range(2 * inner + 1):
            leaf = i >= inner
            a["nodes_treeids"].append(t), a["nodes_nodeids"].append(i)
            a["nodes_featureids"].append(0 if leaf else int(r.integers(features)))
            a["nodes_values"].append(0.0 if leaf else float(np.round(r.standard_normal(), 1)))
            a["nodes_modes"].append("LEAF" if leaf else mode)
            a["nodes_truenodeids"].append(0 if leaf else 2 * i + 1), a["nodes_falsenodeids"].append(0 if leaf else 2 * i + 2)
            a["nodes_missing_value_tracks_true"].append(0 if leaf else int(r.integers(2)))
            for target in (range(targets) if every else [int(r.integers(targets))]) if leaf else []:
                a[f"{kind}_treeids"].append(t), a[f"{kind}_nodeids"].append(i), a[f"{kind}_ids"].append(target)
                a[f"{kind}_weights"].append(float(r.uniform(0, 1) if positive else r.standard_normal()))
    return a


def features_of(r, rows, columns):
    x = f32(r, rows, columns)
    x[r.uniform(size=x.shape) < 0.1] = np.nan
    x[r.uniform(size=x.shape) < 0.2] = np.float32(np.round(0.3, 1))
    return x


@case
def tree_ensemble_regressor(r):
    targets = pick(r, 1, 1, 3)
    base = {"base_values": [float(v) for v in r.standard_normal(targets)]} if pick(r, 0, 1) else {}
    return Node("TreeEnsembleRegressor", [features_of(r, 9, 4)], domain="ai.onnx.ml", n_targets=targets,
                aggregate_function=pick(r, "SUM", "AVERAGE", "MIN", "MAX"),
                post_transform=pick(r, "NONE", "NONE", "LOGISTIC", "SOFTMAX") if targets > 1 else "NONE", **base,
                **forest(r, int(r.integers(1, 5)), 3, 4, targets, "target"))


@case
def tree_ensemble_classifier(r):
    classes = pick(r, 2, 3, 4)
    votes = pick(r, 1, 2) if classes == 2 else classes  # one base value with two voting classes leaves a score unwritten
    base = {"base_values": [float(v) for v in r.standard_normal(classes)]} if votes > 2 and pick(r, 0, 1) else {}
    if votes == 1 and pick(r, 0, 1):
        base = {"base_values": [0.3]}
    return Node("TreeEnsembleClassifier", [features_of(r, 9, 4)], outputs=2, domain="ai.onnx.ml",
                classlabels_int64s=[int(v) for v in r.permutation(10)[:classes]],
                post_transform=pick(r, "NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"), **base,
                **forest(r, int(r.integers(1, 5)), 3, 4, votes, "class", pick(r, True, False)))


@case
def tree_ensemble(r):
    inner, features, targets = 7, 4, pick(r, 1, 2)
    leaves = inner + 1
    yes = [2 * i + 1 if 2 * i + 1 < inner else 2 * i + 1 - inner for i in range(inner)]
    no = [2 * i + 2 if 2 * i + 2 < inner else 2 * i + 2 - inner for i in range(inner)]
    leaf = [int(2 * i + 1 >= inner) for i in range(inner)]
    return Node("TreeEnsemble", [features_of(r, 9, features)], domain="ai.onnx.ml", version=5, opset=21, n_targets=targets,
                aggregate_function=1, post_transform=0, tree_roots=[0], nodes_featureids=[int(v) for v in r.integers(0, features, inner)],
                nodes_truenodeids=yes, nodes_falsenodeids=no, nodes_trueleafs=leaf, nodes_falseleafs=leaf,
                nodes_splits=numpy_helper.from_array(f32(r, inner)), nodes_modes=numpy_helper.from_array(r.integers(0, 4, inner).astype(np.uint8)),
                nodes_missing_value_tracks_true=[int(v) for v in r.integers(0, 2, inner)],
                leaf_targetids=[int(v) for v in r.integers(0, targets, leaves)], leaf_weights=numpy_helper.from_array(f32(r, leaves)))


def floats(r, count):
    return [float(v) for v in r.standard_normal(count)]


@case
def linear_regressor(r):
    targets = pick(r, 1, 3)
    return Node("LinearRegressor", [f32(r, 5, 4)], domain="ai.onnx.ml", targets=targets, coefficients=floats(r, 4 * targets),
                intercepts=floats(r, targets))


@case
def linear_classifier(r):
    classes = pick(r, 1, 2, 3)
    return Node("LinearClassifier", [f32(r, 5, 4)], outputs=2, domain="ai.onnx.ml", coefficients=floats(r, 4 * classes), intercepts=floats(r, classes),
                classlabels_ints=[int(v) for v in r.permutation(10)[:max(classes, 2)]], post_transform=pick(r, "NONE", "SOFTMAX", "LOGISTIC"))


@case
def svm_regressor(r):
    vectors = pick(r, 0, 5)
    return Node("SVMRegressor", [f32(r, 6, 3)], domain="ai.onnx.ml", n_supports=vectors, coefficients=floats(r, vectors or 3), rho=floats(r, 1),
                **({"support_vectors": floats(r, vectors * 3)} if vectors else {}), kernel_type=pick(r, "LINEAR", "RBF", "POLY", "SIGMOID") if vectors else "LINEAR",
                kernel_params=[0.3, 0.2, 2.0], one_class=pick(r, 0, 0, 1))


@case
def svm_classifier(r):
    classes = pick(r, 2, 3)
    per = [int(v) for v in r.integers(1, 4, classes)]
    pairs = classes * (classes - 1) // 2
    extra = {"prob_a": [-abs(v) - 0.5 for v in floats(r, pairs)], "prob_b": floats(r, pairs)} if pick(r, 0, 1) else {}
    return Node("SVMClassifier", [f32(r, 6, 3)], outputs=2, domain="ai.onnx.ml", vectors_per_class=per, support_vectors=floats(r, 3 * sum(per)),
                coefficients=floats(r, (classes - 1) * sum(per)), rho=floats(r, pairs), kernel_type=pick(r, "LINEAR", "RBF", "POLY", "SIGMOID"),
                kernel_params=[0.3, 0.2, 2.0], classlabels_ints=[int(v) for v in r.permutation(10)[:classes]],
                post_transform=pick(r, "NONE", "NONE", "LOGISTIC", "SOFTMAX"), **extra)


@case
def features(r):
    which, ml = r.integers(9), {"domain": "ai.onnx.ml"}
    x = features_of(r, 5, 3)
    if which == 0:
        return Node("Scaler", [np.nan_to_num(x)], offset=floats(r, 3), scale=floats(r, 3), **ml)
    if which == 1:
        return Node("Normalizer", [np.nan_to_num(x)], norm=pick(r, "MAX", "L1", "L2"), **ml)
    if which == 2:
        return Node("Imputer", [x], imputed_value_floats=floats(r, 3), replaced_value_float=float("nan"), **ml)
    if which == 3:
        return Node("Binarizer", [np.nan_to_num(x)], threshold=0.2, **ml)
    if which == 4:
        return Node("LabelEncoder", [r.integers(0, 5, (3, 4))], version=2, keys_int64s=[0, 2, 3], values_floats=[0.5, 1.5, 2.5], default_float=-3.0, **ml)
    if which == 5:
        return Node("LabelEncoder", [x], version=2, keys_floats=[float("nan"), float(np.float32(0.3))], values_int64s=[7, 8], default_int64=-2, **ml)
    if which == 6:
        return Node("OneHotEncoder", [r.integers(0, 5, (3, 4))], cats_int64s=[0, 3, 1], zeros=1, **ml)
    if which == 7:
        return Node("FeatureVectorizer", [f32(r, 4, 3), f32(r, 4, 2)], inputdimensions=[3, 2], **ml)
    return Node("ArrayFeatureExtractor", [f32(r, 4, 3), np.array([[2, 0]])], **ml)


# ---- Writing -----------------------------------------------------------------------------------------------------------------


def model_of(node):
    names, inputs, initializers, feeds = [], [], [], {}
    for i, value in enumerate(node.inputs):
        names.append("" if value is None else f"x{i}")
        if isinstance(value, const):
            initializers.append(numpy_helper.from_array(value.array, f"x{i}"))
        elif value is not None:
            value = np.ascontiguousarray(value)
            inputs.append(helper.make_tensor_value_info(f"x{i}", helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
            feeds[f"x{i}"] = value
    while names and not names[-1]:
        names.pop()
    outputs = [f"y{i}" for i in range(node.outputs)] if isinstance(node.outputs, int) else node.outputs
    attributes = {k.rstrip("_"): v for k, v in node.attributes.items()}
    made = helper.make_node(node.op, names, outputs, domain=node.domain, **attributes)
    infos = [helper.make_empty_tensor_value_info(o) for o in outputs if o]
    graph = helper.make_graph([made], "one", inputs, infos, initializers)
    imports = [helper.make_opsetid("", node.opset)] + ([helper.make_opsetid(node.domain, node.version)] if node.domain else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=10), feeds, [o for o in outputs if o]


def write(folder, node, optimize=ort.GraphOptimizationLevel.ORT_DISABLE_ALL):
    model, feeds, outputs = model_of(node)
    options = ort.SessionOptions()
    options.log_severity_level, options.graph_optimization_level = 4, optimize
    options.intra_op_num_threads = 1  # more quantize the sequences of a batch by ranges of their own
    answers = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(outputs, feeds)
    del model.graph.output[:]
    for name, value in zip(outputs, answers):
        model.graph.output.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for i, (name, value) in enumerate(feeds.items()):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    for i, (name, value) in enumerate(zip(outputs, answers)):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=8, help="cases of each kind")
    parser.add_argument("--only", help="kinds whose name contains this")
    options = parser.parse_args()
    refused = 0
    for name, make in CASES.items():
        if options.only and options.only not in name:
            continue
        for i in range(options.rounds):
            random = np.random.default_rng([i, *name.encode()])
            try:
                write(options.out / f"{name}_{i}", make(random))
            except Exception as error:  # ONNX Runtime itself refuses: not a case
                refused += 1
                print(f"{name}_{i}: {str(error)[:300]}", file=sys.stderr)
    print(f"{refused} cases that ONNX Runtime refuses")
    return 0


if __name__ == "__main__":
    sys.exit(main())
