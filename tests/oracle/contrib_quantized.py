"""Cases of com.microsoft: operators of quantized numbers."""
import numpy as np

from oraclecase import case, Node, const, f32, u8, i8, pick, scale


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
