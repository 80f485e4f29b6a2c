#!/usr/bin/env python3
"""Writes small transformers after ONNX Runtime's tools, with its outputs, as folders that `tilewright test` reads: optimized (fused
operators of com.microsoft), in float16, with 4-bit weights, quantized dynamically and statically.

    tests/oracle/transformers.py OUT          then      tilewright test OUT

Needs onnx and onnxruntime (its transformers and quantization tools come along).
"""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

BATCH, STEPS, WORDS, HIDDEN, HEADS, LAYERS = 2, 12, 50, 64, 4, 2


class Builder:
    """BERT as an exporter spells it: matrix products, Softmax, LayerNormalization by mean and square root, Gelu by Erf."""

    def __init__(self):
        self.r, self.nodes, self.weights = np.random.default_rng(7), [], []

    def constant(self, array, name=None):
        name = name or f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def weight(self, *shape):
        return self.constant((self.r.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32))

    def linear(self, x, columns, rows=HIDDEN):
        return self.node("Add", self.node("MatMul", x, self.weight(rows, columns)), self.constant(self.r.standard_normal(columns).astype(np.float32) * 0.1))

    def norm(self, x):
        mean = self.node("ReduceMean", x, axes=[-1])
        centered = self.node("Sub", x, mean)
        square = self.node("Pow", centered, self.constant(np.float32(2)))
        root = self.node("Sqrt", self.node("Add", self.node("ReduceMean", square, axes=[-1]), self.constant(np.float32(1e-12))))
        scaled = self.node("Mul", self.node("Div", centered, root), self.constant(self.r.uniform(0.5, 1.5, HIDDEN).astype(np.float32)))
        return self.node("Add", scaled, self.constant(self.r.standard_normal(HIDDEN).astype(np.float32) * 0.1))

    def heads(self, x, order):
        return self.node("Transpose", self.node("Reshape", x, self.constant(np.array([0, 0, HEADS, HIDDEN // HEADS]))), perm=order)

    def layer(self, x, mask):
        q, k, v = (self.linear(x, HIDDEN) for _ in range(3))
        scores = self.node("MatMul", self.heads(q, [0, 2, 1, 3]), self.heads(k, [0, 2, 3, 1]))
        scores = self.node("Add", self.node("Div", scores, self.constant(np.float32(np.sqrt(HIDDEN // HEADS)))), mask)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), self.heads(v, [0, 2, 1, 3]))
        flat = self.node("Reshape", self.node("Transpose", mixed, perm=[0, 2, 1, 3]), self.constant(np.array([0, 0, HIDDEN])))
        x = self.norm(self.node("Add", self.linear(flat, HIDDEN), x))
        h = self.linear(x, 4 * HIDDEN)
        erf = self.node("Erf", self.node("Div", h, self.constant(np.float32(np.sqrt(2)))))
        gelu = self.node("Mul", self.node("Mul", h, self.node("Add", erf, self.constant(np.float32(1)))), self.constant(np.float32(0.5)))
        return self.norm(self.node("Add", self.linear(gelu, HIDDEN, 4 * HIDDEN), x))

    def model(self):
        words = self.node("Gather", self.weight(WORDS, HIDDEN), "input_ids")
        kinds = self.node("Gather", self.weight(2, HIDDEN), "segment_ids")
        positions = self.node("Gather", self.weight(STEPS, HIDDEN), self.constant(np.arange(STEPS)[None]))
        x = self.norm(self.node("Add", self.node("Add", words, kinds), positions))
        mask = self.node("Unsqueeze", self.node("Unsqueeze", "input_mask", self.constant(np.array([1]))), self.constant(np.array([2])))
        mask = self.node("Sub", self.constant(np.float32(1)), self.node("Cast", mask, to=TensorProto.FLOAT))
        mask = self.node("Mul", mask, self.constant(np.float32(-10000)))
        for _ in range(LAYERS):
            x = self.layer(x, mask)
        # Away from 0, so that a tolerance relative to each element is one of the hidden state's size.
        self.nodes.append(helper.make_node("Add", [x, self.constant(np.float32(8))], ["hidden"]))
        ids = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", STEPS]) for n in ("input_ids", "segment_ids", "input_mask")]
        graph = helper.make_graph(self.nodes, "bert", ids, [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["batch", STEPS, HIDDEN])], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def feeds():
    r = np.random.default_rng(1)
    mask = (np.arange(STEPS)[None] < np.array([[STEPS], [7]])).astype(np.int64)
    return {"input_ids": r.integers(0, WORDS, (BATCH, STEPS)), "segment_ids": r.integers(0, 2, (BATCH, STEPS)), "input_mask": mask}


def write(folder, model, inputs):
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    inputs = {i.name: inputs[i.name].astype(np.int32 if "int32" in i.type else np.int64) for i in session.get_inputs()}
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for i, (name, value) in enumerate(inputs.items()):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    for i, (name, value) in enumerate(zip(names, session.run(names, inputs))):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    counts = {}
    for node in model.graph.node:
        key = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        counts[key] = counts.get(key, 0) + 1
    print(folder.name, {k: v for k, v in sorted(counts.items()) if "microsoft" in k or "Linear" in k or "Integer" in k})


class Calibration:
    def __init__(self):
        self.left = [feeds()]

    def get_next(self):
        return self.left.pop() if self.left else None


def main():
    out = pathlib.Path(sys.argv[1])
    base = Builder().model()
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name)
        onnx.save(base, path / "bert.onnx")
        write(out / "bert", base, feeds())

        def attempt(what, make):
            try:
                write(out / what, make(), feeds())
            except Exception as error:
                print(f"{what}: {str(error)[:300]}", file=sys.stderr)

        def optimized(half):
            from onnxruntime.transformers import optimizer
            model = optimizer.optimize_model(str(path / "bert.onnx"), model_type="bert", num_heads=HEADS, hidden_size=HIDDEN, opt_level=0)
            if half:
                model.convert_float_to_float16(keep_io_types=True)
            return model.model

        def session(level):
            options = ort.SessionOptions()
            options.graph_optimization_level, options.optimized_model_filepath = level, str(path / "session.onnx")
            ort.InferenceSession(str(path / "bert.onnx"), options, providers=["CPUExecutionProvider"])
            return onnx.load(path / "session.onnx")

        def quantized(static):
            from onnxruntime import quantization as q
            target = str(path / "quantized.onnx")
            if static:
                q.quantize_static(str(path / "bert.onnx"), target, Calibration(), quant_format=getattr(q.QuantFormat, static), per_channel=True)
            else:
                q.quantize_dynamic(str(path / "bert.onnx"), target)
            return onnx.load(target)

        def four_bits():
            from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
            tool = MatMulNBitsQuantizer(onnx.load(path / "bert.onnx"), block_size=32, is_symmetric=False)
            tool.process()
            return tool.model.model

        attempt("bert_optimized", lambda: optimized(False))
        attempt("bert_optimized_fp16", lambda: optimized(True))
        attempt("bert_session_extended", lambda: session(ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED))
        attempt("bert_session_basic", lambda: session(ort.GraphOptimizationLevel.ORT_ENABLE_BASIC))
        attempt("bert_dynamic", lambda: quantized(None))
        attempt("bert_qdq", lambda: quantized("QDQ"))
        attempt("bert_qoperator", lambda: quantized("QOperator"))
        attempt("bert_four_bits", four_bits)


if __name__ == "__main__":
    main()
