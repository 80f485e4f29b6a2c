"""The cases of scripts/compare-pytorch: a model, its inputs, and what else computes the same.

Models and inputs are made of numpy arrays, so that they can be built and compiled where there is no PyTorch; peers are
functions of tensors on the GPU. Nothing is built before a case is asked for.
"""
import functools

import numpy as np

half, brain, single = "float16", "bfloat16", "float32"


def bits16(values):
    """bfloat16 as numpy has it: the upper halves of float32, rounded to nearest even."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def random(kind, *shape, scale=1.0, seed=0):
    values = np.random.default_rng([seed, *shape]).standard_normal(shape, dtype=np.float32) * np.float32(scale)
    return bits16(values) if kind == brain else values.astype(kind)


def weight(kind, rows, columns, seed=1):
    """Scaled so that a product with it keeps its operand's spread."""
    return random(kind, rows, columns, scale=rows ** -0.5, seed=seed)


class Case:
    """`model` is a function that gives the ModelProto; or `path` is a graph without weights, for these `shapes`. The result is compared with
    `reference` of the inputs, or without it with the first peer's."""

    def __init__(self, group, name, arrays, outputs, peers, model=None, path=None, shapes=None, kind=half, tolerance=2e-2, reference=None, file=None):
        self.group, self.name, self.model, self.path, self.shapes, self.kind, self.tolerance = group, name, model, path, shapes, kind, tolerance
        self.arrays, self.outputs, self.peers, self.checked, self.reference, self.file = arrays, outputs, peers, path is None, reference, file

    def fileName(self):
        return self.file or "".join(letter if letter.isalnum() else "_" for letter in self.name)

    def tensors(self, torch):
        return [onGpu(torch, array) for array in self.arrays()]


def onGpu(torch, array):
    tensor = torch.from_numpy(array).to("cuda")
    return tensor.view(torch.bfloat16) if array.dtype == np.uint16 else tensor


#--- Models -------------------------------------------------------------------------------------------------------------------------------

def node(op, inputs, outputs, **attributes):
    import onnx
    return onnx.helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def model(kind, nodes, inputs, outputs, weights=None):
    """A ModelProto of these nodes; inputs and outputs are {name: shape}, weights {name: array}."""
    from onnx import TensorProto, helper, numpy_helper
    types = {half: TensorProto.FLOAT16, brain: TensorProto.BFLOAT16, single: TensorProto.FLOAT}
    values = lambda table: [helper.make_tensor_value_info(name, types[kind], list(shape)) for name, shape in table.items()]

    def constant(name, array):
        if array.dtype == np.uint16:
            return helper.make_tensor(name, TensorProto.BFLOAT16, array.shape, array.tobytes(), raw=True)
        return numpy_helper.from_array(array, name)
    graph = helper.make_graph(nodes, "case", values(inputs), values(outputs), [constant(*item) for item in (weights or {}).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def compiled(function):
    import torch
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


#--- Products -----------------------------------------------------------------------------------------------------------------------------

def product(m, n, k, kind):
    weights = lambda: {"b": weight(kind, k, n)}

    def peers(a):
        import torch
        b = onGpu(torch, weights()["b"])
        return {"cuBLAS": lambda: a @ b}
    return Case("matmul", f"matmul {kind} {m}x{n}x{k}", lambda: [random(kind, m, k)], [(kind, (m, n))], peers, kind=kind,
                model=lambda: model(kind, [node("MatMul", "a b", "y")], {"a": (m, k)}, {"y": (m, n)}, weights()))


def layout(m, n, k, transA, transB):
    """Both operands are inputs, so that nothing is laid out anew when compiling."""
    shapes = [(k, m) if transA else (m, k), (n, k) if transB else (k, n)]

    def peers(a, b):
        left, right = a.t() if transA else a, b.t() if transB else b
        return {"cuBLAS": lambda: left @ right}
    return Case("layouts", f"matmul {'t' if transA else 'n'}{'t' if transB else 'n'} {m}x{n}x{k}",
                lambda: [random(half, *shapes[0]), random(half, *shapes[1], scale=k ** -0.5, seed=1)], [(half, (m, n))], peers,
                model=lambda: model(half, [node("Gemm", "a b", "y", transA=transA, transB=transB)], dict(zip("ab", shapes)), {"y": (m, n)}))


def biasGelu(m, n, k, approximate):
    """cuBLASLt's epilogue is the tanh form; the compared functions are all of one form."""
    weights = lambda: {"b": weight(half, k, n), "c": random(half, n, seed=2)}
    nodes = lambda: [node("MatMul", "a b", "p"), node("Add", "p c", "t"), node("Gelu", "t", "y", approximate=approximate)]

    def peers(a):
        import torch
        import torch.nn.functional as F
        b, bias = (onGpu(torch, array) for array in weights().values())
        eager = lambda: F.gelu(a @ b + bias, approximate=approximate)
        epilogue = {"cuBLASLt": lambda: torch._addmm_activation(bias, a, b, use_gelu=True)} if approximate == "tanh" else {}
        return {"eager": eager, **epilogue, "torch.compile": compiled(eager)}
    return Case("gelu", f"matmul+bias+gelu({approximate}) {m}x{n}x{k}", lambda: [random(half, m, k)], [(half, (m, n))], peers,
                model=lambda: model(half, nodes(), {"a": (m, k)}, {"y": (m, n)}, weights()))


def swiglu(m, width, hidden, joined=False):
    """`joined`: gate and up are one product, whose result is split, as several published checkpoints have it."""
    apart = lambda: {"gate": weight(half, width, hidden), "up": weight(half, width, hidden, seed=2)}
    weights = lambda: {**({"both": np.concatenate(list(apart().values()), 1)} if joined else apart()), "down": weight(half, hidden, width)}
    products = lambda: ([node("MatMul", "x both", "b"), node("Split", "b", "g u", axis=-1, num_outputs=2)] if joined else
                        [node("MatMul", "x gate", "g"), node("MatMul", "x up", "u")])
    nodes = lambda: products() + [node("Sigmoid", "g", "s"), node("Mul", "g s", "h"), node("Mul", "h u", "p"), node("MatMul", "p down", "y")]

    def peers(x):
        import torch
        import torch.nn.functional as F
        *first, down = (onGpu(torch, array) for array in weights().values())

        def eager():
            gate, up = (x @ first[0]).chunk(2, -1) if joined else (x @ first[0], x @ first[1])
            return (F.silu(gate) * up) @ down
        return {"eager": eager, "torch.compile": compiled(eager)}
    return Case("swiglu", f"swiglu {m}x{width}x{hidden}" + (" in one product" if joined else ""), lambda: [random(half, m, width)], [(half, (m, width))], peers,
                model=lambda: model(half, nodes(), {"x": (m, width)}, {"y": (m, width)}, weights()))


def layers(m, width, count=4):
    names = range(count)
    weights = lambda: {**{f"w{i}": weight(half, width, width, seed=i) for i in names}, **{f"b{i}": random(half, width, seed=i) for i in names}}

    def nodes():
        of = lambda i: "x" if i < 0 else "y" if i == count - 1 else f"h{i}"
        return [n for i in names for n in (node("MatMul", f"{of(i - 1)} w{i}", f"m{i}"), node("Add", f"m{i} b{i}", f"a{i}"), node("Relu", f"a{i}", of(i)))]

    def peers(x):
        import torch
        arrays = {name: onGpu(torch, array) for name, array in weights().items()}
        eager = lambda: functools.reduce(lambda t, i: torch.relu(t @ arrays[f"w{i}"] + arrays[f"b{i}"]), names, x)
        return {"eager": eager, "torch.compile": compiled(eager)}
    return Case("mlp", f"mlp {count}x{width} {m} rows", lambda: [random(half, m, width)], [(half, (m, width))], peers,
                model=lambda: model(half, nodes(), {"x": (m, width)}, {"y": (m, width)}, weights()))


#--- Rows ---------------------------------------------------------------------------------------------------------------------------------

def layerNorm(m, n):
    weights = lambda: {"g": random(half, n, seed=1), "b": random(half, n, seed=2)}

    def peers(x, r):
        import torch
        import torch.nn.functional as F
        g, b = (onGpu(torch, array) for array in weights().values())
        eager = lambda: F.layer_norm(x + r, (n,), g, b)
        return {"eager": eager, "torch.compile": compiled(eager)}
    return Case("rows", f"residual+layernorm {m}x{n}", lambda: [random(half, m, n), random(half, m, n, seed=3)], [(half, (m, n))], peers,
                model=lambda: model(half, [node("Add", "x r", "t"), node("LayerNormalization", "t g b", "y")], {"x": (m, n), "r": (m, n)}, {"y": (m, n)}, weights()))


def softmax(m, n):
    nodes = lambda: [node("Mul", "x e", "t"), node("Add", "t r", "u"), node("Softmax", "u", "y", axis=-1)]

    def peers(x, r):
        import torch
        eager = lambda: torch.softmax(x.float() * 0.125 + r.float(), -1).half()
        return {"eager": eager, "torch.compile": compiled(eager)}
    return Case("rows", f"scale+mask+softmax {m}x{n}", lambda: [random(half, m, n), random(half, m, n, seed=3)], [(half, (m, n))], peers,
                model=lambda: model(half, nodes(), {"x": (m, n), "r": (m, n)}, {"y": (m, n)}, {"e": np.array([0.125], np.float16)}))


def elementwise(m, n):
    nodes = lambda: [node("Mul", "x c", "a"), node("Sub", "a h", "b"), node("Tanh", "b", "t"), node("Mul", "t z", "d"), node("Relu", "d", "y")]

    def peers(x, z):
        import torch
        eager = lambda: torch.relu(torch.tanh(x.float() * 1.25 - 0.5) * z.float()).half()
        return {"eager": eager, "torch.compile": compiled(eager)}
    return Case("rows", f"elementwise {m}x{n}", lambda: [random(half, m, n), random(half, m, n, seed=3)], [(half, (m, n))], peers,
                model=lambda: model(half, nodes(), {"x": (m, n), "z": (m, n)}, {"y": (m, n)}, {"c": np.array([1.25], np.float16), "h": np.array([0.5], np.float16)}))


#--- Attention and recurrences ------------------------------------------------------------------------------------------------------------

def attention(batch, heads, queries, size, causal=False, groups=None, keys=None):
    """Scores, scale, mask, softmax, mix, spelled as nodes. Grouped heads repeat keys and values as exporters do."""
    groups, keys = groups or heads, keys or queries
    q, kv = (batch, heads, queries, size), (batch, groups, keys, size)
    wide = (batch, groups, heads // groups, keys, size)

    def nodes():
        result, k, v = [], "k", "v"
        if groups != heads:
            for name in "kv":
                result += [node("Unsqueeze", f"{name} two", f"{name}5"), node("Expand", f"{name}5 wide", f"{name}w"), node("Reshape", f"{name}w full", f"{name}r")]
            k, v = "kr", "vr"
        result += [node("Transpose", k, "kt", perm=[0, 1, 3, 2]), node("MatMul", "q kt", "s"), node("Mul", "s e", "t")]
        result += [node("Add", "t mask", "u")] if causal else []
        return result + [node("Softmax", "u" if causal else "t", "p", axis=-1), node("MatMul", f"p {v}", "y")]

    def weights():
        mask = np.triu(np.full((queries, keys), np.finfo(np.float16).min, np.float16), 1 + keys - queries)
        return {"e": np.array([size ** -0.5], np.float16), **({"mask": mask} if causal else {}),
                **({"two": np.array([2]), "wide": np.array(wide), "full": np.array((batch, heads, keys, size))} if groups != heads else {})}

    def peers(q, k, v):
        import torch.nn.functional as F
        from torch.nn.attention import SDPBackend, sdpa_kernel

        def through(backend):
            def run():
                with sdpa_kernel(backend):
                    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=groups != heads)
            return run
        return {"flash": through(SDPBackend.FLASH_ATTENTION), "cuDNN": through(SDPBackend.CUDNN_ATTENTION)}
    name = f"attention{' causal' if causal else ''} {batch}x{heads}x{queries}x{size}" + (f" on {groups} heads, {keys} keys" if groups != heads else "")
    return Case("attention", name, lambda: [random(half, *q), random(half, *kv, seed=1), random(half, *kv, seed=2)], [(half, q)], peers,
                model=lambda: model(half, nodes(), {"q": q, "k": kv, "v": kv}, {"y": q}, weights()))


# Of each gate in ONNX's order, its place in PyTorch's.
gateOrders = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2)}


def recurrence(op, steps, batch, width, kind, directions=2):
    hidden, order = width, gateOrders[op]
    part = lambda seed: np.concatenate([weight(kind, width, hidden, seed=10 * seed + i).T for i in order])  # in PyTorch's order
    parts = lambda: {(what, direction): part(2 * direction + (what == "hh")) for direction in range(directions) for what in ("ih", "hh")}
    reordered = lambda gates: np.concatenate([gates[i * hidden:(i + 1) * hidden] for i in order])
    stacked = lambda what: np.stack([reordered(parts()[what, direction]) for direction in range(directions)])
    attributes = {"direction": "bidirectional" if directions == 2 else "forward", "hidden_size": hidden, **({"linear_before_reset": 1} if op == "GRU" else {})}

    def nodes():
        return [node(op, "x W R", "h", **attributes), node("Transpose", "h", "t", perm=[0, 2, 1, 3]), node("Reshape", "t shape", "y")]

    def peers(x):
        import torch
        network = getattr(torch.nn, op)(width, hidden, bidirectional=directions == 2, bias=False).to("cuda", x.dtype)
        for (what, direction), gates in parts().items():
            getattr(network, f"weight_{what}_l0" + ("_reverse" if direction else "")).data.copy_(onGpu(torch, np.ascontiguousarray(gates)))
        network.flatten_parameters()
        return {"cuDNN": lambda: network(x)[0]}
    shape = (steps, batch, directions * hidden)
    name = f"{op.lower()} {kind} {steps}x{batch}x{width}" + (" both directions" if directions == 2 else "")
    return Case("recurrent", name, lambda: [random(kind, steps, batch, width)], [(kind, shape)], peers, kind=kind,
                model=lambda: model(kind, nodes(), {"x": (steps, batch, width)}, {"y": shape}, {"W": stacked("ih"), "R": stacked("hh"), "shape": np.array(shape)}))


def kernels():
    cubes = [(size,) * 3 for size in (1024, 2048, 4096, 8192)]
    others = [(4096, 768, 3072), (512, 3072, 768), (128, 768, 3072), (128, 768, 768)]
    few = [(rows, 4096, 4096) for rows in (1, 2, 4, 8, 16, 32, 64, 128)]
    gelus = [(4096, 4096, 4096), (512, 3072, 768), (128, 4096, 4096), (16, 4096, 4096)]
    return [*(product(*size, kind) for kind in (half, brain) for size in cubes + others), *(product(*size, half) for size in few),
            product(4096, 4096, 4096, single), product(512, 3072, 768, single),
            *(layout(4096, 4096, 4096, a, b) for a in (0, 1) for b in (0, 1)),
            *(biasGelu(*size, form) for size in gelus for form in ("tanh", "none")),
            *(swiglu(rows, 4096, 11008) for rows in (1, 16, 4096)), *(swiglu(rows, 4096, 11008, joined=True) for rows in (1, 4096)), *(layers(rows, 512) for rows in (1, 128)),
            *(rule(*size) for size in ((8192, 8192), (4096, 768), (32768, 1024)) for rule in (layerNorm, softmax)), elementwise(8192, 8192),
            attention(8, 12, 512, 64), attention(4, 32, 2048, 128), attention(4, 32, 2048, 128, causal=True),
            *(attention(1, 64, rows, 128, groups=8, keys=8192) for rows in (1, 4, 16)),
            recurrence("LSTM", 40, 1, 256, single), recurrence("LSTM", 40, 1, 256, half), recurrence("LSTM", 100, 16, 256, single, directions=1),
            recurrence("LSTM", 100, 1, 512, half), recurrence("GRU", 40, 1, 256, single), recurrence("GRU", 100, 32, 128, half)]


def cases(skeletons):
    from torchmodels import models
    return kernels() + models(skeletons)
