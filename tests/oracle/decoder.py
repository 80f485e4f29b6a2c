#!/usr/bin/env python3
"""Compares a small decoder (GroupQueryAttention, rotary embedding, 4-bit weights) with ONNX Runtime: a prompt, then ten steps with its
caches fed back, with a growing cache and with a shared buffer.

    tests/oracle/decoder.py build/release/tilewright

Needs onnx and onnxruntime.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

WORDS, HIDDEN, HEADS, GROUPS, SIZE, LAYERS, BLOCK, LONGEST = 40, 64, 4, 2, 16, 2, 32, 24


def model():
    r = np.random.default_rng(3)
    nodes, weights = [], []

    def constant(array, name=None):
        name = name or f"c{len(weights)}"
        weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(op, *inputs, outputs=1, **attributes):
        names = [f"{op}_{len(nodes)}_{i}" for i in range(outputs)]
        nodes.append(helper.make_node(op, list(inputs), names, name=names[0], domain="" if op in plain else "com.microsoft", **attributes))
        return names if outputs > 1 else names[0]

    plain = {"Gather", "Shape", "Cast", "ReduceSum", "Sub", "Sigmoid", "Mul", "SimplifiedLayerNormalization", "Identity"}

    def product(x, n, k):
        blocks = k // BLOCK
        return node("MatMulNBits", x, constant(r.integers(0, 256, (n, blocks, BLOCK // 2)).astype(np.uint8)),
                    constant((r.uniform(0.5, 1.5, n * blocks) * 0.2 / np.sqrt(k)).astype(np.float32)), K=k, N=n, bits=4, block_size=BLOCK)

    angle = np.outer(np.arange(LONGEST), 1 / 1000 ** (np.arange(SIZE // 2) / (SIZE // 2)))
    cosines, sines = constant(np.cos(angle).astype(np.float32)), constant(np.sin(angle).astype(np.float32))
    words = node("ReduceSum", "attention_mask", constant(np.array([1])), keepdims=0)
    last = node("Cast", node("Sub", words, constant(np.array([1]))), to=TensorProto.INT32)
    total = node("Cast", node("Gather", node("Shape", "attention_mask"), constant(np.array(1))), to=TensorProto.INT32)
    x = node("Gather", constant(r.standard_normal((WORDS, HIDDEN)).astype(np.float32)), "input_ids")
    sum_ = x
    y = node("SimplifiedLayerNormalization", x, constant(r.uniform(0.5, 1.5, HIDDEN).astype(np.float32)), epsilon=1e-6, axis=-1)
    outputs = []
    for i in range(LAYERS):
        packed = product(y, (HEADS + 2 * GROUPS) * SIZE, HIDDEN)
        names = [f"attention_{i}", f"present.{i}.key", f"present.{i}.value"]
        nodes.append(helper.make_node("GroupQueryAttention", [packed, "", "", f"past.{i}.key", f"past.{i}.value", last, total, cosines, sines], names,
                                      domain="com.microsoft", num_heads=HEADS, kv_num_heads=GROUPS, do_rotary=1, local_window_size=9))
        outputs += names[1:]
        skipped = [f"skip_{i}", "", "", f"sum_{i}"]
        scale = constant(r.uniform(0.5, 1.5, HIDDEN).astype(np.float32))
        nodes.append(helper.make_node("SkipSimplifiedLayerNormalization", [sum_, product(names[0], HIDDEN, HEADS * SIZE), scale], skipped,
                                      domain="com.microsoft", epsilon=1e-6))
        gate, up = product(skipped[0], 2 * HIDDEN, HIDDEN), product(skipped[0], 2 * HIDDEN, HIDDEN)
        mixed = product(node("Mul", node("Mul", gate, node("Sigmoid", gate)), up), HIDDEN, 2 * HIDDEN)
        after = [f"after_{i}", "", "", f"total_{i}"]
        nodes.append(helper.make_node("SkipSimplifiedLayerNormalization", [skipped[3], mixed, constant(r.uniform(0.5, 1.5, HIDDEN).astype(np.float32))],
                                      after, domain="com.microsoft", epsilon=1e-6))
        y, sum_ = after[0], after[3]
    nodes.append(helper.make_node("Identity", [product(y, WORDS, HIDDEN)], ["logits"]))
    info = helper.make_tensor_value_info
    inputs = [info("input_ids", TensorProto.INT64, ["batch", "steps"]), info("attention_mask", TensorProto.INT64, ["batch", "total"])]
    inputs += [info(o.replace("present", "past"), TensorProto.FLOAT, ["batch", GROUPS, "kept", SIZE]) for o in outputs]
    results = [info("logits", TensorProto.FLOAT, ["batch", "steps", WORDS])]
    results += [info(o, TensorProto.FLOAT, ["batch", GROUPS, "after", SIZE]) for o in outputs]
    graph = helper.make_graph(nodes, "decoder", inputs, results, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=10)


def ours(tilewright, path, feeds, folder, told):
    arguments = [tilewright, "run", str(path)]
    for name, value in feeds.items():
        np.save(folder / f"{name}.npy", value)
        arguments += ["--inputs", f"{name}={folder}/{name}.npy"]
    if told:
        for name, value in feeds.items():
            arguments += ["--shapes", f"{name}:{'x'.join(map(str, value.shape))}"]
    done = subprocess.run(arguments + ["--outputs", str(folder / "out.npz")], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return dict(np.load(folder / "out.npz"))


def main():
    tilewright, worst = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        onnx.save(model(), folder / "decoder.onnx")
        session = ort.InferenceSession(str(folder / "decoder.onnx"), providers=["CPUExecutionProvider"])
        for kind, kept, told in (("growing", 0, False), ("growing, sizes told", 0, True), ("shared buffer", LONGEST, False), ("shared buffer, sizes told", LONGEST, True)):
            ids, length = np.random.default_rng(0).integers(0, WORDS, (2, 4)), 4
            caches = {f"past.{i}.{k}": np.zeros((2, GROUPS, kept, SIZE), np.float32) for i in range(LAYERS) for k in ("key", "value")}
            far = 0
            for step in range(11):
                feeds = {"input_ids": ids, "attention_mask": np.ones((2, length), np.int64), **caches}
                expected = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
                found = ours(tilewright, folder / "decoder.onnx", feeds, folder, told)
                far = max(far, np.abs(found["logits"] - expected["logits"]).max() / np.abs(expected["logits"]).max())
                caches = {o.replace("present", "past"): found[o] for o in found if o.startswith("present")}
                ids, length = expected["logits"][:, -1:].argmax(-1), length + 1
            print(f"{kind}: 11 steps, largest difference {far:.2g} of the largest logit")
            worst = max(worst, far)
    return int(worst > 1e-4)


if __name__ == "__main__":
    sys.exit(main())
