"""writeRandomNodes.py FOLDER [COUNT [SEED]]: COUNT random models of one node for each operator of the table below, with random inputs and
ONNX Runtime's outputs, as folders that `tilewright test FOLDER` runs. A case that ONNX Runtime refuses is drawn again, up to ten times.

    build/venv/bin/python tests/e2e/writeRandomNodes.py build/random-nodes 20 && build/release/tilewright test build/random-nodes

A difference is either a bug of ours, or one of ONNX Runtime's that docs/decisions.md should mention.
"""
import pathlib
import random
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

r = random.Random()
F, I64, I32, U8, I8, BOOL = np.float32, np.int64, np.int32, np.uint8, np.int8, np.bool_


def dims(rank, low=1, high=5):
    return [r.randint(low, high) for _ in range(rank)]


def real(*shape, kind=F):
    return np.array([r.uniform(-2, 2) for _ in range(int(np.prod(shape)))], kind).reshape(shape)


def whole(*shape, low=0, high=10, kind=I64):
    return np.array([r.randint(low, high) for _ in range(int(np.prod(shape)))]).astype(kind).reshape(shape)


def flag():
    return r.randint(0, 1)


class Const:
    """An input that becomes an initializer: what exporters write for sizes, axes and pads."""

    def __init__(self, value):
        self.value = np.asarray(value)


def maybe_const(value):
    return Const(value) if flag() else np.asarray(value)


def resize():
    rank = r.choice([3, 4, 4, 5])
    mode = r.choice(["nearest", "linear", "cubic"])
    shape = dims(2, 1, 2) + dims(rank - 2, 2, 6)
    moved = 2 if mode == "cubic" else rank - 2
    if mode == "cubic":
        shape, rank = shape[:2] + dims(2, 4, 6), 4
    a = dict(mode=mode, coordinate_transformation_mode=r.choice(
        ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]))
    if mode == "nearest":
        a["nearest_mode"] = r.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    if mode == "cubic":
        a["cubic_coeff_a"], a["exclude_outside"] = r.choice([-0.5, -0.75]), flag()
    if mode != "nearest" and flag() and a["coordinate_transformation_mode"] != "tf_crop_and_resize":
        a["antialias"] = 1
    roi = np.array([0.0] * 2 + [r.uniform(0, 0.4) for _ in range(rank - 2)] + [1.0] * 2 + [r.uniform(0.6, 1.2) for _ in range(rank - 2)], F)
    if a["coordinate_transformation_mode"] == "tf_crop_and_resize":
        a["extrapolation_value"] = r.uniform(-3, 3)
    if flag():
        return "Resize", 19, a, [real(*shape), maybe_const(roi), maybe_const(np.array([1, 1] + [r.uniform(0.4, 2.5) for _ in range(rank - 2)], F))], 1
    return "Resize", 19, a, [real(*shape), maybe_const(roi), None, maybe_const(np.array(shape[:2] + dims(rank - 2, 1, 9), I64))], 1


def pad():
    rank = r.randint(1, 4)
    shape, mode = dims(rank, 2, 5), r.choice(["constant", "reflect", "edge", "wrap"])
    pads = [r.randint(-1 if flag() else 0, min(s - 1, 3)) for s in shape + shape]
    inputs = [r.choice([real(*shape), whole(*shape)]), maybe_const(np.array(pads, I64))]
    if mode == "constant" and flag():
        inputs.append(Const(np.array(3, inputs[0].dtype)))
    return "Pad", 19, dict(mode=mode), inputs, 1


def recurrent():
    op = r.choice(["RNN", "GRU", "LSTM"])
    gates = dict(RNN=1, GRU=3, LSTM=4)[op]
    direction = r.choice(["forward", "reverse", "bidirectional"])
    d, steps, batch, width, hidden = 1 + (direction == "bidirectional"), r.randint(1, 6), r.randint(1, 3), r.randint(1, 4), r.randint(1, 4)
    a = dict(hidden_size=hidden, direction=direction)
    if flag():
        a["clip"] = r.uniform(0.3, 2)
    if op == "GRU":
        a["linear_before_reset"] = flag()
    if flag():
        each = dict(RNN=1, GRU=2, LSTM=3)[op]
        a["activations"] = [r.choice(["Tanh", "Sigmoid", "Relu", "Softsign", "Softplus", "HardSigmoid", "Elu"]) for _ in range(each * d)]
    inputs = [real(steps, batch, width), Const(real(d, gates * hidden, width)), Const(real(d, gates * hidden, hidden)),
              Const(real(d, 2 * gates * hidden)) if flag() else None,
              np.array([r.randint(1, steps) for _ in range(batch)], I32) if flag() else None,
              real(d, batch, hidden) if flag() else None]
    if op == "LSTM":
        inputs += [real(d, batch, hidden) if flag() else None, Const(real(d, 3 * hidden)) if flag() else None]
        if a.get("activations"):
            a.pop("clip", None)
    while inputs[-1] is None:
        inputs.pop()
    return op, 14, a, inputs, 3 if op == "LSTM" else 2


def slices():
    rank = r.randint(1, 4)
    shape = dims(rank, 1, 8)
    axes = r.sample(range(rank), r.randint(1, rank))
    starts, ends = [r.randint(-9, 9) for _ in axes], [r.randint(-9, 9) for _ in axes]
    steps = [r.choice([-3, -2, -1, 1, 2, 3]) for _ in axes]
    axes = [a - rank * flag() for a in axes]
    return "Slice", 13, {}, [real(*shape)] + [maybe_const(np.array(v, I64)) for v in (starts, ends, axes, steps)], 1


def topk():
    shape = dims(r.randint(1, 3), 1, 7)
    axis = r.randrange(-len(shape), len(shape))
    return "TopK", 11, dict(axis=axis, largest=flag(), sorted=1), [r.choice([real(*shape), whole(*shape)]), maybe_const(np.array([r.randint(0, shape[axis])], I64))], 2


def scatter_nd():
    shape = dims(r.randint(1, 3), 2, 5)
    last = r.randint(1, len(shape))
    count = r.randint(1, 3)
    reduction = r.choice(["none", "add", "mul", "max", "min"])
    index = np.stack([whole(count, low=-s, high=s - 1) for s in shape[:last]], -1)
    if reduction == "none":
        index = index[:1]
    return "ScatterND", 18, dict(reduction=reduction), [real(*shape), index, real(len(index), *shape[last:])], 1


def scatter_elements():
    shape = dims(r.randint(1, 3), 2, 5)
    axis = r.randrange(-len(shape), len(shape))
    own = [r.randint(1, s) for s in shape]
    reduction = r.choice(["none", "add", "mul", "max", "min"])
    index = whole(*own, low=-shape[axis], high=shape[axis] - 1)
    if reduction == "none":
        own[axis] = 1
        index = whole(*own, low=0, high=shape[axis] - 1)
    return "ScatterElements", 18, dict(axis=axis, reduction=reduction), [real(*shape), index, real(*own)], 1


def gathers():
    shape = dims(r.randint(1, 3), 2, 5)
    axis = r.randrange(-len(shape), len(shape))
    if flag():
        return "Gather", 13, dict(axis=axis), [real(*shape), whole(*dims(r.randint(0, 2)), low=-shape[axis], high=shape[axis] - 1)], 1
    own = [r.randint(1, s) for s in shape]
    return "GatherElements", 13, dict(axis=axis), [real(*shape), whole(*own, low=-shape[axis], high=shape[axis] - 1)], 1


def gather_nd():
    shape = dims(r.randint(2, 4), 2, 4)
    batch = r.randint(0, 1)
    last = r.randint(1, len(shape) - batch)
    outer = shape[:batch] + dims(r.randint(0 if batch else 1, 2), 1, 3)
    index = np.stack([whole(*outer, low=-s, high=s - 1) for s in shape[batch:batch + last]], -1)
    return "GatherND", 13, dict(batch_dims=batch), [real(*shape), index], 1


def reductions():
    op = "Reduce" + r.choice(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"])
    shape = dims(r.randint(1, 4), 1, 5)
    x = np.abs(real(*shape)) + 0.1 if op == "ReduceLogSum" else r.choice([real(*shape), whole(*shape, kind=I32)]) if op in ("ReduceSum", "ReduceMax", "ReduceMin") else real(*shape)
    axes = [a - len(shape) * flag() for a in r.sample(range(len(shape)), r.randint(0, len(shape)))]
    return op, 18, dict(keepdims=flag(), noop_with_empty_axes=flag()), [x, Const(np.array(axes, I64))], 1


def arg():
    shape = dims(r.randint(1, 3), 1, 5)
    return r.choice(["ArgMax", "ArgMin"]), 13, dict(axis=r.randrange(-len(shape), len(shape)), keepdims=flag(), select_last_index=flag()), [whole(*shape, high=3, kind=F)], 1


def convs():
    n = r.randint(1, 3)
    group, per_in, per_out = r.choice([(1, 2, 3), (2, 1, 2), (3, 1, 1), (2, 2, 3)])
    kernel, transposed = dims(n, 1, 3), flag()
    a = dict(group=group, strides=dims(n, 1, 3), dilations=dims(n, 1, 2))
    if flag():
        a["auto_pad"] = r.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        if not transposed and "SAME" in a["auto_pad"]:
            a["dilations"] = [1] * n
    else:
        a["pads"] = [r.randint(0, k - 1) for k in kernel + kernel]
    x, bias = real(r.randint(1, 2), group * per_in, *dims(n, 4, 7)), [real(group * per_out)] if flag() else []
    if transposed:
        a["output_padding"] = [r.randint(0, s - 1) for s in a["strides"]]
        return "ConvTranspose", 11, a, [x, Const(real(group * per_in, per_out, *kernel))] + bias, 1
    return "Conv", 11, a, [x, Const(real(group * per_out, per_in, *kernel))] + bias, 1


def pools():
    n, op = r.randint(1, 3), r.choice(["MaxPool", "AveragePool", "LpPool"])
    kernel = dims(n, 1, 3)
    a = dict(kernel_shape=kernel, strides=dims(n, 1, 3), ceil_mode=flag())
    if op != "LpPool" and flag():
        a["dilations"] = dims(n, 1, 2)
    if op == "LpPool":
        a["p"] = r.choice([1, 2, 3])
    if flag():
        a["pads"] = [r.randint(0, k // 2) for k in kernel + kernel]
    if op == "AveragePool":
        a["count_include_pad"] = flag()
    return op, 19 if op == "AveragePool" else 18 if op == "LpPool" else 12, a, [real(1, 2, *dims(n, 4, 8))], 2 if op == "MaxPool" and flag() else 1


def binaries():
    op = r.choice(["Add", "Sub", "Mul", "Div", "Pow", "Mod", "BitShift", "Max", "Min", "PRelu", "Less", "GreaterOrEqual", "Equal"])
    shape = dims(r.randint(0, 3))
    other = [1 if flag() else s for s in shape][r.randint(0, len(shape)):]
    kind = r.choice([F, np.float64, I32, I64, U8]) if op not in ("BitShift", "PRelu", "Pow") else r.choice([U8, np.uint32, np.uint64]) if op == "BitShift" else r.choice([F, I32, I64]) if op == "Pow" else F
    low = 0 if kind in (U8, np.uint32, np.uint64) or op == "Pow" else -5
    make = lambda s: real(*s, kind=kind) if kind in (F, np.float64) else whole(*s, low=low, high=9, kind=kind)
    x, y = make(shape), make(other)
    if op in ("Div", "Mod"):
        y = np.where(y == 0, np.array(3, kind), y)
    if op == "Pow":
        x = np.abs(x)
    a = dict(direction=r.choice(["LEFT", "RIGHT"])) if op == "BitShift" else dict(fmod=1 if kind in (F, np.float64) else flag()) if op == "Mod" else {}
    return op, 15 if op == "Pow" else 13 if op == "Mod" else 11 if op == "BitShift" else 16, a, [x, y], 1


def unaries():
    op = r.choice(["Abs", "Neg", "Sign", "Ceil", "Floor", "Round", "Sqrt", "Exp", "Log", "Erf", "Tanh", "Sigmoid", "HardSwish", "HardSigmoid", "Elu", "Selu",
                   "Celu", "LeakyRelu", "ThresholdedRelu", "Softplus", "Softsign", "Shrink", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh",
                   "Asinh", "Acosh", "Atanh", "Reciprocal", "IsNaN", "IsInf", "Mish", "Gelu"])
    x = real(*dims(r.randint(0, 3)))
    if flag() and x.size > 2:
        x.flat[0], x.flat[1], x.flat[2] = np.nan, np.inf, -np.inf
    return op, 20, dict(approximate=r.choice(["none", "tanh"])) if op == "Gelu" else {}, [x], 1


def casts():
    kinds = [F, np.float64, np.float16, I64, I32, np.int16, I8, U8, np.uint16, np.uint32, np.uint64, BOOL]
    start, to = r.choice(kinds), r.choice(kinds)
    x = real(3, 5, kind=F) * 40
    if start in (U8, np.uint16, np.uint32, np.uint64):
        x = np.abs(x)
    if np.issubdtype(to, np.unsignedinteger) and not np.issubdtype(start, np.integer):
        x = np.abs(x)
    return "Cast", 19, dict(to=helper.np_dtype_to_tensor_dtype(np.dtype(to))), [x.astype(start)], 1


def normalizations():
    op = r.choice(["Softmax", "LogSoftmax", "Hardmax", "LayerNormalization", "InstanceNormalization", "LRN", "BatchNormalization", "LpNormalization", "GroupNormalization", "MeanVarianceNormalization"])
    shape = dims(r.randint(2, 4), 2, 5)
    axis = r.randrange(-len(shape), len(shape))
    c = shape[1]
    if op in ("Softmax", "LogSoftmax", "Hardmax"):
        return op, r.choice([11, 13]), dict(axis=axis), [real(*shape)], 1
    if op == "LayerNormalization":
        own = shape[axis:]
        return op, 17, dict(axis=axis, epsilon=0.01), [real(*shape), real(*own)] + ([real(*own)] if flag() else []), r.choice([1, 3])
    if op == "InstanceNormalization":
        shape = shape[:2] + dims(2, 2, 4)
        return op, 6, {}, [real(*shape), real(c), real(c)], 1
    if op == "LRN":
        shape = [2, 5] + dims(2, 2, 4)
        return op, 13, dict(size=r.choice([1, 3, 5]), alpha=0.3, beta=0.6, bias=1.5), [real(*shape)], 1
    if op == "BatchNormalization":
        return op, 15, {}, [real(*shape), real(c), real(c), real(c), np.abs(real(c)) + 0.1], 1
    if op == "LpNormalization":
        return op, 1, dict(axis=axis, p=r.choice([1, 2])), [real(*shape)], 1
    if op == "GroupNormalization":
        return op, 21, dict(num_groups=2), [real(2, 4, *dims(2, 1, 4)), real(4), real(4)], 1
    return op, 13, dict(axes=[0, 2, 3]), [real(2, 3, *dims(2, 2, 4))], 1


def shapes():
    op = r.choice(["Tile", "Expand", "Split", "Concat", "Transpose", "Flatten", "Where", "Trilu", "OneHot", "CumSum", "Compress", "NonZero", "ReverseSequence",
                   "DepthToSpace", "SpaceToDepth", "Unique", "Range", "EyeLike", "Squeeze", "Unsqueeze", "Reshape", "CenterCropPad", "Clip", "Size", "Shape"])
    shape = dims(r.randint(2, 4), 1, 4)
    rank, x = len(shape), real(*shape)
    axis = r.randrange(-rank, rank)
    table = dict(
        Tile=lambda: (13, {}, [x, maybe_const(np.array(dims(rank, 0, 3), I64))], 1),
        Expand=lambda: (13, {}, [real(*[1 if flag() else s for s in shape]), maybe_const(np.array([2] + shape, I64))], 1),
        Split=lambda: (18, dict(axis=axis, num_outputs=2), [real(*[s + 2 for s in shape])], 2),
        Concat=lambda: (13, dict(axis=axis), [x, x, x], 1),
        Transpose=lambda: (13, dict(perm=r.sample(range(rank), rank)), [x], 1),
        Flatten=lambda: (13, dict(axis=axis), [x], 1),
        Where=lambda: (16, {}, [whole(*shape, high=1, kind=BOOL), x, real(*shape[1:])], 1),
        Trilu=lambda: (14, dict(upper=flag()), [x, Const(np.array(r.randint(-5, 5), I64))], 1),
        OneHot=lambda: (11, dict(axis=r.randint(-1, 1)), [whole(3, 2, low=-6, high=6), Const(np.array(4, I64)), real(2)], 1),
        CumSum=lambda: (14, dict(exclusive=flag(), reverse=flag()), [x, Const(np.array(axis, I64))], 1),
        Compress=lambda: (11, dict(axis=axis), [x, whole(shape[axis], high=1, kind=BOOL)], 1),
        NonZero=lambda: (13, {}, [whole(*shape, high=1, kind=F)], 1),
        ReverseSequence=lambda: (10, dict(batch_axis=1, time_axis=0), [x, whole(shape[1], low=1, high=shape[0])], 1),
        DepthToSpace=lambda: (13, dict(blocksize=2, mode=r.choice(["DCR", "CRD"])), [real(1, 8, 2, 3)], 1),
        SpaceToDepth=lambda: (13, dict(blocksize=2), [real(1, 3, 4, 6)], 1),
        Unique=lambda: (11, dict(sorted=flag(), **(dict(axis=axis) if flag() else {})), [whole(*shape, high=3, kind=F)], 4),
        Range=lambda: (11, {}, [Const(np.array(v, F)) for v in (r.uniform(-3, 3), r.uniform(-9, 9), r.choice([-0.7, 0.3, 1]))], 1),
        EyeLike=lambda: (9, dict(k=r.randint(-3, 3)), [real(*dims(2))], 1),
        Squeeze=lambda: (13, {}, [real(1, *shape, 1), Const(np.array([0, -1], I64))], 1),
        Unsqueeze=lambda: (13, {}, [x, Const(np.array([0, -1], I64))], 1),
        Reshape=lambda: (14, {}, [x, maybe_const(np.array([shape[0], -1], I64))], 1),
        CenterCropPad=lambda: (18, {}, [x, Const(np.array(dims(rank, 1, 6), I64))], 1),
        Clip=lambda: (13, {}, [x, Const(np.array(-0.5, F)), None if flag() else Const(np.array(0.7, F))], 1),
        Size=lambda: (13, {}, [x], 1),
        Shape=lambda: (15, dict(start=r.randint(-3, 3), end=r.randint(-3, 3)), [x], 1),
    )
    return (op, *table[op]())


def detections():
    op = r.choice(["NonMaxSuppression", "RoiAlign", "GridSample", "AffineGrid", "Col2Im", "MaxRoiPool", "DeformConv", "MaxUnpool"])
    if op == "NonMaxSuppression":
        corner = np.abs(real(1, 6, 2))
        boxes = np.concatenate([corner, corner + np.abs(real(1, 6, 2))], -1)
        return op, 11, dict(center_point_box=flag()), [boxes, np.abs(real(1, 2, 6)), Const(np.array(r.randint(0, 4), I64)), Const(np.array(r.uniform(0, 1), F)), Const(np.array(r.uniform(0, 1), F))], 1
    if op == "RoiAlign":
        corner = np.abs(real(3, 2)) * 2
        return op, 16, dict(output_height=3, output_width=2, sampling_ratio=r.randint(0, 3), spatial_scale=0.7, mode=r.choice(["avg", "max"]),
                            coordinate_transformation_mode=r.choice(["half_pixel", "output_half_pixel"])), [real(2, 2, 6, 7), np.concatenate([corner, corner + np.abs(real(3, 2)) + 1], -1), whole(3, high=1)], 1
    if op == "GridSample":
        return op, 20, dict(mode=r.choice(["linear", "nearest", "cubic"]), padding_mode=r.choice(["zeros", "border", "reflection"]), align_corners=flag()), [real(1, 2, 5, 6), real(1, 3, 4, 2)], 1
    if op == "AffineGrid":
        return op, 20, dict(align_corners=flag()), [real(2, 2, 3), Const(np.array([2, 3, 4, 5], I64))], 1
    if op == "Col2Im":
        return op, 18, dict(pads=[1, 0, 0, 1], strides=[1, 2]), [real(1, 2 * 2 * 2, 5 * 3), Const(np.array([5, 6], I64)), Const(np.array([2, 2], I64))], 1
    if op == "MaxRoiPool":
        return op, 1, dict(pooled_shape=[2, 2], spatial_scale=1.0), [real(1, 2, 6, 6), np.array([[0, 0, 0, 4, 5], [0, 1, 2, 5, 5]], F)], 1
    if op == "DeformConv":
        return op, 19, dict(kernel_shape=[2, 2], pads=[0, 0, 0, 0], strides=[1, 1]), [real(1, 2, 4, 4), Const(real(3, 2, 2, 2)), real(1, 8, 3, 3), real(3), np.abs(real(1, 4, 3, 3))], 1
    return op, 11, dict(kernel_shape=[2, 2], strides=[2, 2]), [real(1, 1, 2, 2), np.array([[[[5, 7], [8, 10]]]], I64)], 1


def products():
    op = r.choice(["MatMul", "Gemm", "Einsum", "MatMulInteger", "ConvInteger", "QLinearMatMul", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "Det"])
    m, k, n = dims(3)
    if op == "MatMul":
        return op, 13, {}, [real(*dims(r.randint(0, 1)), 2, m, k), real(2, k, n)], 1
    if op == "Gemm":
        ta, tb = flag(), flag()
        return op, 13, dict(alpha=0.5, beta=2.0, transA=ta, transB=tb), [real(*([k, m] if ta else [m, k])), real(*([n, k] if tb else [k, n])), real(*r.choice([[n], [m, 1], [], [m, n]]))], 1
    if op == "Einsum":
        form, shapes = r.choice([("ij,jk->ik", [[m, k], [k, n]]), ("bij,bjk", [[2, m, k], [2, k, n]]), ("...ij,...jk->...ik", [[2, m, k], [2, k, n]]), ("ii->i", [[m, m]]),
                                 ("ii", [[m, m]]), ("ij->ji", [[m, k]]), ("i,j->ij", [[m], [n]]), ("ij,kj,kl->il", [[m, k], [n, k], [n, 2]]), ("bhid,bhjd->bhij", [[1, 2, m, k], [1, 2, n, k]]),
                                 ("iij->j", [[m, m, k]]), ("...i->...", [[2, m, k]]), ("ij,ij->", [[m, k], [m, k]])])
        return op, 12, dict(equation=form), [real(*s) for s in shapes], 1
    if op == "MatMulInteger":
        kind = r.choice([U8, I8])
        return op, 10, {}, [whole(m, k, high=200, kind=U8), whole(k, n, low=0, high=100, kind=kind), np.array(3, U8), np.array(2, kind)], 1
    if op == "ConvInteger":
        return op, 10, dict(pads=[1, 0, 1, 0]), [whole(1, 2, 5, 5, high=200, kind=U8), whole(3, 2, 2, 2, high=100, kind=U8), np.array(9, U8), np.array(4, U8)], 1
    if op == "QLinearMatMul":
        return op, 10, {}, [whole(m, k, high=200, kind=U8), np.array(0.1, F), np.array(3, U8), whole(k, n, high=200, kind=U8), np.array(0.07, F), np.array(5, U8), np.array(0.3, F), np.array(7, U8)], 1
    if op == "QuantizeLinear":
        return op, 13, dict(axis=1), [real(2, k, 3) * 20, np.abs(real(k)) + 0.1, whole(k, low=0, high=20, kind=r.choice([U8, I8]))], 1
    if op == "DequantizeLinear":
        kind = r.choice([U8, I8])
        return op, 13, dict(axis=1), [whole(2, k, 3, high=100, kind=kind), real(k), whole(k, high=20, kind=kind)], 1
    if op == "DynamicQuantizeLinear":
        return op, 11, {}, [real(m, k) * 7], 3
    return op, 11, {}, [real(2, m, m)], 1


def signals():
    op = r.choice(["DFT", "STFT", "HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix"])
    if op == "DFT":
        parts, inverse = r.choice([1, 2]), flag()
        a = dict(inverse=inverse) if r.random() < 0.6 else dict(onesided=1)
        if "onesided" in a:
            parts = 1
        rank = r.choice([3, 4])
        return op, 17, dict(axis=r.randint(1, rank - 2), **a), [real(*dims(rank - 1, 2, 7), parts)] + ([Const(np.array(r.randint(2, 9), I64))] if flag() else []), 1
    if op == "STFT":
        size = r.randint(2, 8)
        return op, 17, dict(onesided=flag()), [real(2, 20, 1), Const(np.array(r.randint(1, 5), I64)), r.choice([Const(real(size)), real(size)]), Const(np.array(size, I64))], 1
    if op == "MelWeightMatrix":
        return op, 17, {}, [Const(np.array(v, k)) for v, k in ((5, I64), (16, I64), (8000, I64), (0, F), (4000, F))], 1
    return op, 17, dict(periodic=flag()), [Const(np.array(r.randint(2, 12), I64))], 1


families = [resize, pad, recurrent, slices, topk, scatter_nd, scatter_elements, gathers, gather_nd, reductions, arg, convs, pools, binaries, unaries, casts,
            normalizations, shapes, detections, products, signals]


def model_of(op, opset, attributes, inputs, outputs):
    names, graph_inputs, initializers, values = [], [], [], []
    for i, value in enumerate(inputs):
        names.append("" if value is None else f"x{i}")
        if isinstance(value, Const):
            initializers.append(numpy_helper.from_array(value.value, names[-1]))
        elif value is not None:
            graph_inputs.append(helper.make_tensor_value_info(names[-1], helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
            values.append((names[-1], value))
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    graph = helper.make_graph([node], "node", graph_inputs, [onnx.ValueInfoProto(name=name) for name in results], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return onnx.shape_inference.infer_shapes(model), values


def write(case, folder):
    model, values = model_of(*case)
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), quiet, providers=["CPUExecutionProvider"])
    results = session.run(None, dict(values))
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "data.json").write_text('{"rtol": 1e-3, "atol": 1e-5}')
    for stem, named in (("input", values), ("output", zip([o.name for o in model.graph.output], results))):
        for i, (name, value) in enumerate(named):
            (data / f"{stem}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(value), name).SerializeToString())


def main():
    target, count, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    r.seed(seed)
    written, refused = 0, {}
    for family in families:
        for number in range(count):
            for _ in range(10):
                case = family()
                try:
                    write(case, target / f"{family.__name__}_{number}_{case[0]}")
                    written += 1
                    break
                except Exception as error:  # ONNX Runtime has many kinds of refusals
                    refused[case[0]] = str(error).splitlines()[0][:120]
    print(f"{written} cases in {target}; refused by ONNX Runtime among others: {refused}")


if __name__ == "__main__":
    main()
