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
from onnx import helper, numpy_helper

import contrib_floats  # noqa: F401  (each module adds its cases to the table)
import contrib_ml  # noqa: F401
import contrib_quantized  # noqa: F401
from oraclecase import CASES, const


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
