"""Models whose attention is worth comparing, with the sizes to compile them for: those that are here, and two that this module writes."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from modeltable import folders


class Graph:
    """Nodes and weights, each named by what it makes."""
    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(0)

    def node(self, op, *inputs, **attributes):
        output = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def constant(self, array):
        self.weights.append(numpy_helper.from_array(array, f"c{len(self.weights)}"))
        return self.weights[-1].name

    def weight(self, *shape):
        return self.constant((self.random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32))

    def linear(self, x, inner, outer):
        return self.node("Add", self.node("MatMul", x, self.weight(inner, outer)), self.weight(outer))

    def norm(self, x, width):
        return self.node("LayerNormalization", x, self.constant(np.ones(width, np.float32)), self.weight(width), axis=-1)

    def attention(self, q, k, v, size):
        """Of heads side by side in front: scores, softmax, mix, as exporters write them."""
        scores = self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2]))
        scaled = self.node("Mul", scores, self.constant(np.float32(size ** -0.5)))
        return self.node("MatMul", self.node("Softmax", scaled, axis=-1), v)

    def save(self, path, inputs, output, shape):
        value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        self.nodes.append(helper.make_node("Identity", [output], ["y"]))
        graph = helper.make_graph(self.nodes, "model", [value(*x) for x in inputs], [value("y", shape)], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def writeAudioEncoder(path, frames=1500, width=384, heads=6, layers=4, bands=80):
    """As the encoder of Whisper: two convolutions, then layers of attention and two products, each behind a norm."""
    g = Graph()
    convolved = "x"
    for inner, stride in ((bands, 1), (width, 2)):
        convolved = g.node("Conv", convolved, g.weight(width, inner, 3), g.weight(width), kernel_shape=[3], pads=[1, 1], strides=[stride])
        convolved = g.node("Mul", convolved, g.node("Sigmoid", convolved))
    x = g.node("Add", g.node("Transpose", convolved, perm=[0, 2, 1]), g.weight(frames, width))
    split, joined = (g.constant(np.array(shape, np.int64)) for shape in ([1, frames, heads, width // heads], [1, frames, width]))
    for _ in range(layers):
        h = g.norm(x, width)
        q, k, v = (g.node("Transpose", g.node("Reshape", g.linear(h, width, width), split), perm=[0, 2, 1, 3]) for _ in range(3))
        mixed = g.node("Transpose", g.attention(q, k, v, width // heads), perm=[0, 2, 1, 3])
        x = g.node("Add", x, g.linear(g.node("Reshape", mixed, joined), width, width))
        h = g.linear(g.norm(x, width), width, 4 * width)
        x = g.node("Add", x, g.linear(g.node("Mul", h, g.node("Sigmoid", h)), 4 * width, width))
    g.save(path, [("x", [1, bands, 2 * frames])], g.norm(x, width), [1, frames, width])


def writeAttention(path, heads=8, length=1024, size=64):
    g = Graph()
    shape = [1, heads, length, size]
    g.save(path, [(name, shape) for name in "qkv"], g.attention("q", "k", "v", size), shape)


def attentionCases(folder):
    """(name, path, sizes) of each; the written models are in `folder`."""
    for name, write in (("audio_encoder", writeAudioEncoder), ("attention", writeAttention)):
        write(f"{folder}/{name}.onnx")
        yield name, f"{folder}/{name}.onnx", None
    skeleton = lambda name: f"{folders['goldens']}/{name}/model.onnx"
    yield "gpt2 512", skeleton("gpt2_fp16"), "input_ids:1x512"
    for length in (64, 512):
        yield f"bert {length}", skeleton("bert_base"), f"input_ids:1x{length},attention_mask:1x{length}"
    yield "vit", skeleton("tv_vit_b_16_fp16"), "input:1x3x224x224"
