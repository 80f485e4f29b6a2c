#!/usr/bin/env python3
"""Writes attentions, as exporters spell them, with ONNX Runtime's outputs, as folders that `tilewright test` reads.

    tests/oracle/attention.py OUT [--rounds N] [--only KIND] [--fixed] [--half]      then      tilewright test OUT

A kind is a spelling: where the scale stands, how heads are split, what the mask is. Sizes, types and numbers are random by a fixed seed; lengths are
symbols unless --fixed. Masks leave whole rows without a key now and then. Needs Python with onnx and onnxruntime (scripts/setup says how).
"""
import argparse
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

HEAD_SIZES = [32, 40, 64, 80, 96, 128, 256]


class Graph:
    """Nodes of a model under construction, each named by its output."""

    def __init__(self, dtype):
        self.dtype, self.nodes, self.initializers, self.inputs, self.feeds = dtype, [], [], [], {}

    def op(self, kind, *inputs, **attributes):
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name, **attributes))
        return name

    def const(self, value, dtype=None):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value, dtype or self.dtype), name))
        return name

    def input(self, name, value, dims):
        self.feeds[name] = value
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), dims))
        return name


class Case:
    """Queries, keys and values of one attention: `batch` x `rows` or `keys` x `heads` * `size`."""

    def __init__(self, random, fixed, dtype):
        self.random, self.fixed = random, fixed
        self.graph = Graph(dtype)
        self.batch, self.size = int(random.integers(1, 3)), int(random.choice(HEAD_SIZES))
        self.heads = int(random.choice([1, 2, 4]))
        self.rows = int(random.choice([16, 33, 64, 130, 200]))
        self.keys = self.rows if random.random() < 0.6 else int(random.choice([5, 64, 197, 513, 700]))

    def dims(self, **sizes):
        return [value if self.fixed or not isinstance(value, int) or name.startswith("_") else name for name, value in sizes.items()]

    def tensor(self, name, length, heads=None):
        heads = heads or self.heads
        # Values are positive, so that a mix is not a small difference of large ones.
        shape = (self.batch, length, heads * self.size)
        value = (self.random.random(shape) + 0.5 if name == "v" else self.random.standard_normal(shape)).astype(self.graph.dtype)
        label = "rows" if length == self.rows else "keys"
        return self.graph.input(name, value, self.dims(batch=self.batch, **{label: length}, _width=heads * self.size))

    def split(self, value, heads=None, perm=(0, 2, 1, 3)):
        shaped = self.graph.op("Reshape", value, self.graph.const([0, 0, heads or self.heads, self.size], np.int64))
        return self.graph.op("Transpose", shaped, perm=list(perm))

    def join(self, value):
        back = self.graph.op("Transpose", value, perm=[0, 2, 1, 3])
        return self.graph.op("Reshape", back, self.graph.const([0, 0, self.heads * self.size], np.int64))

    def scale(self):
        return self.size ** -0.5


def padding(case, never):
    """An additive mask over keys; with `never` -inf a batch may have no key at all."""
    live = case.random.random((case.batch, 1, 1, case.keys)) < 0.7
    if case.random.random() < 0.3:
        live[0] = False
    value = np.where(live, 0, never).astype(case.graph.dtype)
    label = "rows" if case.keys == case.rows else "keys"
    return case.graph.input("mask", value, case.dims(batch=case.batch, _a=1, _b=1, **{label: case.keys}))


def lower(case):
    """A boolean mask of rows by keys: causal, or random with rows that see nothing."""
    live = np.tril(np.ones((case.rows, case.keys), bool)) if case.random.random() < 0.5 else case.random.random((case.rows, case.keys)) < 0.3
    if case.random.random() < 0.5:
        live[case.random.integers(0, case.rows)] = False
    names = case.dims(rows=case.rows, keys=case.keys) if case.keys != case.rows else case.dims(rows=case.rows) * 2
    return case.graph.input("live", live, names)


def bert(case):
    """A scale behind the scores, an additive padding mask of large negative numbers."""
    g = case.graph
    q, k, v = case.split(case.tensor("q", case.rows)), case.split(case.tensor("k", case.keys), perm=(0, 2, 3, 1)), case.split(case.tensor("v", case.keys))
    scores = g.op("Div", g.op("MatMul", q, k), g.const(case.size ** 0.5))
    shares = g.op("Softmax", g.op("Add", scores, padding(case, -10000.0)), axis=-1)
    return case.join(g.op("MatMul", shares, v))


def torch_sdpa(case):
    """As PyTorch's exporter writes scaled_dot_product_attention: roots of the scale on both sides, a boolean mask added, NaN made 0."""
    g = case.graph
    root = g.const(case.scale() ** 0.5)
    q = g.op("Mul", case.split(case.tensor("q", case.rows)), root)
    k = g.op("Mul", case.split(case.tensor("k", case.keys), perm=(0, 2, 3, 1)), root)
    mask = g.op("Where", lower(case), g.const(0), g.const(-np.inf))
    shares = g.op("Softmax", g.op("Add", g.op("MatMul", q, k), mask), axis=-1)
    shares = g.op("Where", g.op("IsNaN", shares), g.const(0), shares)
    return case.join(g.op("MatMul", shares, case.split(case.tensor("v", case.keys))))


def selected(case):
    """A selected mask of the lowest number, and a scale on the queries."""
    g = case.graph
    q = g.op("Mul", case.split(case.tensor("q", case.rows)), g.const(case.scale()))
    scores = g.op("MatMul", q, g.op("Transpose", case.split(case.tensor("k", case.keys)), perm=[0, 1, 3, 2]))
    masked = g.op("Where", lower(case), scores, g.const(np.finfo(g.dtype).min))
    return case.join(g.op("MatMul", g.op("Softmax", masked, axis=-1), case.split(case.tensor("v", case.keys))))


def decomposed(case):
    """A softmax in single operators, rows kept by keepdims, with the guards of a fully masked row."""
    g = case.graph
    q, k = case.split(case.tensor("q", case.rows)), case.split(case.tensor("k", case.keys), perm=(0, 2, 3, 1))
    x = g.op("Add", g.op("Mul", g.op("MatMul", q, k), g.const(case.scale())), padding(case, -np.inf))
    top = g.op("ReduceMax", x, axes=[-1], keepdims=1)
    top = g.op("Where", g.op("IsInf", top if g.dtype == np.float32 else g.op("Cast", top, to=TensorProto.FLOAT)), g.const(0), top)
    weights = g.op("Exp", g.op("Sub", x, top))
    total = g.op("ReduceSum", weights, g.const([-1], np.int64), keepdims=1)
    total = g.op("Where", g.op("Equal", total, g.const(0)), g.const(1), total)
    return case.join(g.op("MatMul", g.op("Div", weights, total), case.split(case.tensor("v", case.keys))))


def folded(case):
    """Batch and heads in one dimension, as older exporters have it, and einsum's order of the second product."""
    g = case.graph

    def fold(name, length, perm=(0, 2, 1, 3)):
        return g.op("Reshape", case.split(case.tensor(name, length), perm=perm), g.const([case.batch * case.heads, -1, case.size], np.int64))

    q, k, v = fold("q", case.rows), fold("k", case.keys), fold("v", case.keys)
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 2, 1]))
    shares = g.op("Softmax", g.op("Mul", scores, g.const(case.scale())), axis=2)
    mix = g.op("Einsum", shares, v, equation="bmn,bne->bme")
    return case.join(g.op("Reshape", mix, g.const([case.batch, case.heads, -1, case.size], np.int64)))


def grouped(case):
    """Query heads in groups that share their keys, which are repeated by Expand."""
    g, groups = case.graph, int(case.random.choice([1, 2, 4]))
    shared = case.heads
    case.heads = shared * groups
    width = case.heads

    def repeat(value, length):
        one = g.op("Unsqueeze", value, g.const([2], np.int64))
        wide = g.op("Expand", one, g.const([1, 1, groups, 1, 1], np.int64))
        return g.op("Reshape", wide, g.const([0, width, -1, case.size], np.int64))

    q = case.split(case.tensor("q", case.rows))
    k = repeat(case.split(case.tensor("k", case.keys, shared), shared), case.keys)
    v = repeat(case.split(case.tensor("v", case.keys, shared), shared), case.keys)
    scores = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), g.const(case.scale()))
    return case.join(g.op("MatMul", g.op("Softmax", scores, axis=-1), v))


def relative(case):
    """A bias for each head and distance, added to the scores, and a soft cap on them."""
    g = case.graph
    q, k = case.split(case.tensor("q", case.rows)), case.split(case.tensor("k", case.keys), perm=(0, 2, 3, 1))
    bias = case.random.standard_normal((1, case.heads, case.rows, case.keys)).astype(g.dtype)
    names = case.dims(_a=1, _heads=case.heads, rows=case.rows, keys=case.keys)
    names[3] = names[2] if case.keys == case.rows else names[3]
    scores = g.op("Mul", g.op("MatMul", q, k), g.const(case.scale()))
    capped = g.op("Mul", g.op("Tanh", g.op("Div", scores, g.const(30.0))), g.const(30.0))
    shares = g.op("Softmax", g.op("Add", capped, g.input("bias", bias, names)), axis=-1)
    return case.join(g.op("MatMul", shares, case.split(case.tensor("v", case.keys))))


def causal(case):
    """As PyTorch's older exporter writes is_causal: -inf where a triangle of ones is 0, in float32 whatever the model's type, so that the softmax is of
    float32 too, and the values are converted before they are mixed."""
    g = case.graph
    q, k = case.split(case.tensor("q", case.rows)), case.split(case.tensor("k", case.keys), perm=(0, 2, 3, 1))
    scores = g.op("MatMul", g.op("Mul", q, g.const(case.scale())), k)
    sizes = g.op("Slice", g.op("Shape", scores), g.const([2], np.int64), g.const([4], np.int64))
    ones = g.op("ConstantOfShape", sizes, value=numpy_helper.from_array(np.ones(1, np.float32)))
    never, zero = g.const(-np.inf, np.float32), g.const(0, np.float32)
    mask = g.op("Where", g.op("Equal", g.op("Trilu", ones, upper=0), zero), never, zero)
    shares = g.op("Softmax", g.op("Add", g.op("Cast", scores, to=TensorProto.FLOAT), mask), axis=-1)
    return case.join(g.op("MatMul", shares, g.op("Cast", case.split(case.tensor("v", case.keys)), to=TensorProto.FLOAT)))


def windowed(case):
    """A mask that is arithmetic on positions: keys from some before the row on, and in half of the cases to some behind it."""
    g = case.graph
    query, key = case.tensor("q", case.rows), case.tensor("k", case.keys)
    count = lambda tensor: g.op("Gather", g.op("Shape", tensor), g.const(1, np.int64), axis=0)
    positions = lambda tensor: g.op("Range", g.const(0, np.int64), count(tensor), g.const(1, np.int64))
    row, column = g.op("Unsqueeze", positions(query), g.const([1], np.int64)), g.op("Unsqueeze", positions(key), g.const([0], np.int64))
    before = max(0, case.rows - case.keys) + int(case.random.integers(0, 80))  # each row has a key
    live = g.op("GreaterOrEqual", column, g.op("Sub", row, g.const(before, np.int64)))
    if case.random.random() < 0.5:
        last = g.op("Add", row, g.const(int(case.random.integers(0, 80)), np.int64))
        live = g.op("And", live, g.op("LessOrEqual", column, last))
    scores = g.op("MatMul", g.op("Mul", case.split(query), g.const(case.scale())), case.split(key, perm=(0, 2, 3, 1)))
    shares = g.op("Softmax", g.op("Where", live, scores, g.const(-np.inf)), axis=-1)
    return case.join(g.op("MatMul", shares, case.split(case.tensor("v", case.keys))))


KINDS = [bert, torch_sdpa, selected, decomposed, folded, grouped, relative, causal, windowed]


def write(folder, case, result):
    g = case.graph
    model = helper.make_model(helper.make_graph(g.nodes, "attention", g.inputs, [helper.make_empty_tensor_value_info(result)], g.initializers),
                              opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = ort.SessionOptions()
    options.log_severity_level, options.graph_optimization_level = 4, ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    answer = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run([result], g.feeds)[0]
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info(result, helper.np_dtype_to_tensor_dtype(answer.dtype), [None] * answer.ndim))
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for i, (name, value) in enumerate(g.feeds.items()):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(answer, result).SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=8, help="cases of each kind")
    parser.add_argument("--only", help="kinds whose name contains this")
    parser.add_argument("--fixed", action="store_true", help="lengths are numbers")
    parser.add_argument("--half", action="store_true", help="float16, as GPUs take it (tests/oracle/countattention.py)")
    options = parser.parse_args()
    for make in KINDS:
        if options.only and options.only not in make.__name__:
            continue
        for i in range(options.rounds):
            case = Case(np.random.default_rng([i, *make.__name__.encode()]), options.fixed or i % 2 == 1, np.float16 if options.half else np.float32)
            write(options.out / f"{make.__name__}_{i}", case, make(case))
    return 0


if __name__ == "__main__":
    sys.exit(main())
