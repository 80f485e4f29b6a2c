"""Cases of scripts/compare-pytorch that nobody chose: graphs whose operators, sizes, layouts and paddings are drawn by a seed.

A family draws a graph step by step; each step is an ONNX node together with what computes the same in PyTorch. Sizes reach those that the fastest
kernels are made for, and odd ones beside them. Results are compared with PyTorch's in float32, times with its own operators in the case's type, without tf32.
"""
import math, random

import numpy as np

import torchcases
from torchcases import Case, bits16, brain, half, single

try:
    import torch
    import torch.nn.functional as F
except ImportError:  # models can be written without it
    torch = F = None

# The largest difference from float32, relative to the largest value of the result: a few roundings in each type.
tolerances = {half: 4e-3, brain: 3e-2, single: 2e-4}
mostOperations, mostElements = 2 ** 34, 2 ** 24

# By name: the ONNX operator, its attributes, and what computes the same.
unaries = {"Relu": ("Relu", {}, lambda t: torch.relu(t)), "Sigmoid": ("Sigmoid", {}, lambda t: torch.sigmoid(t)), "Tanh": ("Tanh", {}, lambda t: torch.tanh(t)),
           "Erf": ("Erf", {}, lambda t: torch.erf(t)), "Abs": ("Abs", {}, lambda t: t.abs()), "Neg": ("Neg", {}, lambda t: -t),
           "Gelu": ("Gelu", {}, lambda t: F.gelu(t)), "Gelu tanh": ("Gelu", {"approximate": "tanh"}, lambda t: F.gelu(t, approximate="tanh")),
           "LeakyRelu": ("LeakyRelu", {"alpha": 0.1}, lambda t: F.leaky_relu(t, 0.1)), "HardSwish": ("HardSwish", {}, lambda t: F.hardswish(t)),
           "Softplus": ("Softplus", {}, lambda t: F.softplus(t))}
binaries = {"Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b, "Max": lambda a, b: torch.maximum(a, b), "Min": lambda a, b: torch.minimum(a, b)}


def repeating(kind, *shape, scale=1.0):
    """Constants that repeat after 1021 values, a prime number, so that a model's file is small when compressed and a wrong index still shows."""
    values = (((np.arange(math.prod(shape), dtype=np.int64) * 7919) % 1021 - 510) * (scale / 295)).astype(np.float32).reshape(shape)
    return bits16(values) if kind == brain else values.astype(kind)


class Graph:
    """Steps in order. A value is its name, and `shapes` has the shape of each. `best`: a function of the inputs that PyTorch has for all of it."""

    def __init__(self, draw, kind):
        self.draw, self.kind, self.steps, self.inputs, self.constants, self.shapes, self.best = draw, kind, [], [], {}, {}, None

    def named(self, shape):
        name = f"v{len(self.shapes)}"
        self.shapes[name] = tuple(shape)
        return name

    def input(self, *shape):
        self.inputs.append(self.named(shape))
        return self.inputs[-1]

    def constant(self, array):
        name = self.named(array.shape)
        self.constants[name] = array
        return name

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def scalar(self, value):
        array = np.array([value], np.float32)
        return self.constant(bits16(array) if self.kind == brain else array.astype(self.kind))

    def weight(self, *shape, scale=1.0):
        """A constant, or in one of four cases an input, which is scaled when running."""
        if self.draw.random() < 0.75:
            return self.constant(repeating(self.kind, *shape, scale=scale))
        return self.scaled(self.input(*shape), scale) if scale != 1.0 else self.input(*shape)

    def apply(self, op, operands, shape, function, also=(), **attributes):
        """The result of the node `op` of `operands` and then of `also`, which its function does not take."""
        name = self.named(shape)
        self.steps.append((name, op, operands, list(also), attributes, function))
        return name

    def scaled(self, x, value):
        return self.apply("Mul", [x], self.shapes[x], lambda t: t * value, [self.scalar(value)])

    def unary(self, name, x):
        op, attributes, function = unaries[name]
        return self.apply(op, [x], self.shapes[x], function, **attributes)

    def binary(self, op, x, y):
        return self.apply(op, [x, y], np.broadcast_shapes(self.shapes[x], self.shapes[y]), binaries[op])

    def matmul(self, x, y):
        a, b = self.shapes[x], self.shapes[y]
        return self.apply("MatMul", [x, y], (*np.broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-1]), lambda s, t: s @ t)

    def transpose(self, x, order):
        return self.apply("Transpose", [x], [self.shapes[x][i] for i in order], lambda t: t.permute(order), perm=list(order))

    def turned(self, x):
        """With the last two dimensions exchanged."""
        rank = len(self.shapes[x])
        return self.transpose(x, [*range(rank - 2), rank - 1, rank - 2])

    def reshape(self, x, *shape):
        return self.apply("Reshape", [x], shape, lambda t: t.reshape(shape), [self.integers(*shape)])

    def slice(self, x, axis, begin, end, step=1):
        shape = list(self.shapes[x])
        shape[axis] = len(range(begin, end, step))
        index = (slice(None),) * axis + (slice(begin, end, step),)
        return self.apply("Slice", [x], shape, lambda t: t[index], [self.integers(value) for value in (begin, end, axis, step)])

    def concat(self, parts, axis):
        shape = list(self.shapes[parts[0]])
        shape[axis] = sum(self.shapes[part][axis] for part in parts)
        return self.apply("Concat", parts, shape, lambda *t: torch.cat(t, axis), axis=axis)

    def pad(self, x, before, after):
        shape = [size + b + a for size, b, a in zip(self.shapes[x], before, after)]
        pairs = [value for pair in zip(reversed(before), reversed(after)) for value in pair]
        return self.apply("Pad", [x], shape, lambda t: F.pad(t, pairs), [self.integers(*before, *after)])

    def gather(self, x, axis, indices):
        shape = list(self.shapes[x])
        shape[axis] = len(indices)
        return self.apply("Gather", [x, self.integers(*indices)], shape, lambda t, i: t.index_select(axis, i), axis=axis)

    def softmax(self, x, axis=-1):
        return self.apply("Softmax", [x], self.shapes[x], lambda t: torch.softmax(t, axis), axis=axis)

    def layerNorm(self, x):
        width = self.shapes[x][-1]
        return self.apply("LayerNormalization", [x, self.weight(width), self.weight(width)], self.shapes[x],
                          lambda t, g, b: F.layer_norm(t, (width,), g, b, 1e-5), axis=-1)

    def rmsNorm(self, x):
        """As exporters write it, in the case's own type."""
        shape = self.shapes[x][:-1] + (1,)
        mean = self.apply("ReduceMean", [self.binary("Mul", x, x)], shape, lambda t: t.mean(-1, keepdim=True), [self.integers(-1)])
        shifted = self.apply("Add", [mean], shape, lambda t: t + 1e-3, [self.scalar(1e-3)])
        root = self.apply("Sqrt", [shifted], shape, lambda t: t.sqrt())
        return self.binary("Mul", self.apply("Div", [x, root], self.shapes[x], lambda a, b: a / b), self.weight(self.shapes[x][-1]))

    def function(self, tensors, kind):
        """What computes the result of these inputs in PyTorch, in a type."""
        values = dict(zip(self.inputs, tensors))
        values.update((name, torchcases.onGpu(torch, array)) for name, array in self.constants.items())
        values = {name: value.to(kind) if value.is_floating_point() else value for name, value in values.items()}

        def run():
            own = dict(values)
            for name, _, operands, _, _, function in self.steps:
                own[name] = function(*(own[operand] for operand in operands))
            return own[self.steps[-1][0]].contiguous()
        return run

    def model(self):
        from onnx import helper
        nodes = [helper.make_node(op, [*operands, *also], [name], **attributes) for name, op, operands, also, attributes, _ in self.steps]
        result = self.steps[-1][0]
        return torchcases.model(self.kind, nodes, {name: self.shapes[name] for name in self.inputs}, {result: self.shapes[result]}, self.constants)

    def case(self, family, seed):
        shapes, kind = [self.shapes[name] for name in self.inputs], self.kind

        def peers(*tensors):
            torch._dynamo.reset()  # or it would stop compiling after some cases, which are one function to it
            steps = self.function(tensors, getattr(torch, kind))
            return {**({"fused call": lambda: self.best(*tensors)} if self.best else {}), "eager": steps, "torch.compile": torch.compile(steps, dynamic=False)}
        ops = "+".join(op for _, op, *_ in self.steps)
        name = f"{family} {seed} {kind} {' '.join('x'.join(map(str, shape)) for shape in shapes)} {ops}"
        return Case(family, name, lambda: [torchcases.random(kind, *shape, seed=i) for i, shape in enumerate(shapes)],
                    [(kind, self.shapes[self.steps[-1][0]])], peers, kind=kind, model=self.model, tolerance=tolerances[kind],
                    reference=lambda *tensors: self.function(tensors, torch.float32)(), file=f"{family}-{seed}")


#--- What is drawn ------------------------------------------------------------------------------------------------------------------------

def size(draw, least, most):
    """Spread evenly over its logarithm; a multiple of a power of two more often than not."""
    value = round(math.exp(draw.uniform(math.log(least), math.log(most))))
    unit = draw.choice([1, 1, 2, 8, 16, 64, 128])
    return value if value < unit else value // unit * unit


def epilogue(draw, graph, x):
    """Up to three elementwise steps behind a product or a convolution, whose last dimension is that of the features."""
    for _ in range(draw.randint(0, 3)):
        shape = graph.shapes[x]
        which = draw.choice(["bias", "unary", "residual", "gate", "scale", "rows"])
        if which == "unary":
            x = graph.unary(draw.choice(list(unaries)), x)
        elif which == "gate":
            x = graph.binary("Mul", x, graph.unary("Sigmoid", x))
        elif which == "scale":
            x = graph.scaled(x, 0.5)
        else:
            other = {"bias": shape[-1:], "residual": shape, "rows": (*shape[:-1], 1)}[which]
            x = graph.binary(draw.choice(["Add", "Mul", "Sub", "Max"]) if which != "bias" else "Add", x, graph.weight(*other) if which == "bias" else graph.input(*other))
    return x


def finish(draw, graph, x):
    """What reads all of a row, or moves the result: softmax, norms, heads, halves that gate each other; mostly nothing."""
    shape = graph.shapes[x]
    which = draw.choice(["nothing"] * 5 + ["turned", "heads", "softmax", "norm", "halves", "sum"])
    if which == "turned":
        return graph.turned(x)
    if which == "heads" and shape[-1] % 4 == 0:
        rank = len(shape)
        wide = graph.reshape(x, *shape[:-1], 4, shape[-1] // 4)
        return graph.transpose(wide, [*range(rank - 2), rank - 1, rank - 2, rank])
    if which == "softmax":
        return graph.softmax(x)
    if which == "norm":
        return graph.layerNorm(x)
    if which == "halves" and shape[-1] % 2 == 0:
        half = shape[-1] // 2
        first, second = (graph.slice(x, len(shape) - 1, begin, begin + half) for begin in (0, half))
        return graph.binary("Mul", graph.unary("Sigmoid", first), second)
    if which == "sum":
        return graph.apply("ReduceMean", [x], (*shape[:-2], 1, shape[-1]), lambda t: t.mean(-2, keepdim=True), [graph.integers(-2)])
    return x


def product(draw, graph):
    batch = draw.choice([()] * 4 + [(size(draw, 1, 16),), (draw.randint(1, 4), draw.randint(2, 12))])
    m, n, k = (size(draw, draw.choice([1, 64, 256]), 6000) for _ in range(3))
    if math.prod(batch) * m * n * k > mostOperations or max(m * n, m * k, n * k) * math.prod(batch) > mostElements or math.prod(batch) * m * n * k < 2 ** 20:
        return None
    x = graph.turned(graph.input(*batch, k, m)) if draw.random() < 0.2 else graph.input(*batch, m, k)
    before = draw.choice(["nothing"] * 5 + ["relu", "norm", "rms", "scale"])
    x = {"nothing": lambda: x, "relu": lambda: graph.unary("Relu", x), "norm": lambda: graph.layerNorm(x), "rms": lambda: graph.rmsNorm(x),
         "scale": lambda: graph.binary("Mul", x, graph.input(k))}[before]()
    own = batch if batch and draw.random() < 0.7 else ()
    w = graph.turned(graph.weight(*own, n, k, scale=k ** -0.5)) if draw.random() < 0.4 else graph.weight(*own, k, n, scale=k ** -0.5)
    return finish(draw, graph, epilogue(draw, graph, graph.matmul(x, w)))


def convolution(draw, graph):
    dims = draw.choice([1, 2, 2, 2, 2, 3])
    spread = lambda values: [draw.choice(values) for _ in range(dims)] if draw.random() < 0.3 else [draw.choice(values)] * dims
    window, stride, dilation, sizes = spread([1, 2, 3, 3, 3, 5, 7]), spread([1, 1, 1, 2, 3]), spread([1, 1, 1, 1, 2]), spread(range(5, {1: 900, 2: 80, 3: 20}[dims]))
    groups = draw.choice([1] * 6 + [2, 4, 32])
    inner, outer = (groups * size(draw, 4 if groups > 1 else 3, 512 // groups) for _ in range(2))
    if draw.random() < 0.15:
        groups = outer = inner
    before, after = ([draw.randint(0, extent // 2) for extent in window] for _ in range(2))
    if draw.random() < 0.5:
        before = after = [extent // 2 * by for extent, by in zip(window, dilation)]
    out = [(extent + b + a - by * (w - 1) - 1) // s + 1 for extent, b, a, by, w, s in zip(sizes, before, after, dilation, window, stride)]
    images = draw.choice([1, 1, 2, 4, 8, 16])
    if min(out) < 1 or images * math.prod(out) * outer * inner * math.prod(window) // groups > mostOperations or images * max(math.prod(sizes) * inner, math.prod(out) * outer) > mostElements:
        return None
    last = draw.random() < 0.6
    back, front = [0, dims + 1, *range(1, dims + 1)], [0, *range(2, dims + 2), 1]
    x = graph.transpose(graph.input(images, *sizes, inner), back) if last else graph.input(images, inner, *sizes)
    w = graph.weight(outer, inner // groups, *window, scale=(inner // groups * math.prod(window)) ** -0.5)
    pairs = [value for pair in zip(reversed(before), reversed(after)) for value in pair]

    def convolve(t, u):
        return getattr(F, f"conv{dims}d")(F.pad(t, pairs) if before != after else t, u, None, stride, 0 if before != after else before, dilation, groups)
    y = graph.apply("Conv", [x, w], (images, outer, *out), convolve, kernel_shape=window, strides=stride, dilations=dilation, pads=[*before, *after], group=groups)
    if draw.random() < 0.5:
        y = graph.binary("Add", y, graph.weight(outer, *[1] * dims))
    if draw.random() < 0.5:
        y = graph.unary(draw.choice(["Relu", "HardSwish", "Sigmoid", "LeakyRelu"]), y)
    if draw.random() < 0.2:
        y = graph.binary("Add", y, graph.input(*graph.shapes[y]))
    return graph.transpose(y, front) if last else y


def attention(draw, graph):
    heads, width = draw.choice([1, 2, 3, 4, 6, 8, 12, 16, 32]), draw.choice([16, 24, 32, 40, 48, 64, 64, 64, 80, 96, 128, 128, 160, 256])
    batch, groups = draw.choice([1, 1, 2, 3, 8, 16]), draw.choice([heads, heads, heads, 1, heads // 2 or 1, heads // 4 or 1])
    queries = draw.choice([1, 2, size(draw, 2, 2500), size(draw, 2, 2500), size(draw, 2, 2500)])
    keys = queries if queries > 2 and draw.random() < 0.7 else size(draw, 4, 4000)
    if heads % groups or batch * heads * queries * keys * width > mostOperations // 4 or batch * heads * max(queries, keys) * width > mostElements:
        return None
    behind = draw.random() < 0.5  # the heads stand behind the tokens in memory, as products leave them
    operand = lambda count, length: graph.transpose(graph.input(batch, length, count, width), [0, 2, 1, 3]) if behind else graph.input(batch, count, length, width)
    q, k, v = operand(heads, queries), operand(groups, keys), operand(groups, keys)

    def repeated(x):
        if groups == heads:
            return x
        five, wide = (batch, groups, 1, keys, width), (batch, groups, heads // groups, keys, width)
        expanded = graph.apply("Expand", [graph.reshape(x, *five)], wide, lambda t: t.expand(wide), [graph.integers(*wide)])
        return graph.reshape(expanded, batch, heads, keys, width)
    scale, where = width ** -0.5, draw.choice(["scores", "queries", "both"])
    if where != "scores":
        q = graph.scaled(q, scale if where == "queries" else scale ** 0.5)
    turned = graph.turned(repeated(k))
    scores = graph.matmul(q, graph.scaled(turned, scale ** 0.5) if where == "both" else turned)
    if where == "scores":
        scores = graph.scaled(scores, scale)
    mask = draw.choice(["none", "none", "causal", "keys", "bias", *(["window", "band", "from"] if keys >= queries else ["causal"])])  # a row without a key has no one result
    low = {half: -65504.0, brain: -3e38, single: -3e38}[graph.kind]
    if mask in ("causal", "window", "band", "from"):
        row, column = np.arange(queries)[:, None] + max(keys - queries, 0), np.arange(keys)[None]
        before, behind = draw.randint(1, 300), draw.randint(0, 300)
        allowed = (column <= row + {"band": behind, "from": keys}.get(mask, 0)) & ((column > row - before) if mask != "causal" else True)
        band = np.where(allowed, np.float32(0), np.float32(low))
        scores = graph.binary("Add", scores, graph.constant(bits16(band) if graph.kind == brain else band.astype(graph.kind)))
    elif mask == "keys":
        scores = graph.binary("Add", scores, graph.input(batch, 1, 1, keys))
    elif mask == "bias":
        scores = graph.binary("Add", scores, graph.weight(draw.choice([1, heads]), queries, keys))
    y = graph.matmul(graph.softmax(scores), repeated(v))
    if mask == "none" or mask == "causal" and queries == keys:
        turn = (lambda t: t.transpose(1, 2)) if behind else (lambda t: t)
        graph.best = lambda *t: turn(F.scaled_dot_product_attention(*map(turn, t[:3]), is_causal=mask == "causal", enable_gqa=groups != heads))
    return graph.reshape(graph.transpose(y, [0, 2, 1, 3]), batch, queries, heads * width) if behind else y


def shape(draw, rank, least=2 ** 10):
    """Of so many dimensions, between `least` elements and mostElements."""
    while True:
        result = [size(draw, 1, {1: 2e6, 2: 20000, 3: 2000, 4: 300}[rank]) for _ in range(rank)]
        if least <= math.prod(result) <= mostElements:
            return result


def rows(draw, graph):
    """A reduction or a norm along any axes, with elementwise steps on both sides."""
    x = graph.input(*shape(draw, draw.choice([2, 3, 3, 4])))
    own = graph.shapes[x]
    if draw.random() < 0.3:
        x = graph.transpose(x, draw.sample(range(len(own)), len(own)))
        own = graph.shapes[x]
    if draw.random() < 0.5:
        x = graph.binary(draw.choice(list(binaries)), x, graph.input(*[extent if draw.random() < 0.6 else 1 for extent in own]))
    axes = sorted(draw.sample(range(len(own)), draw.randint(1, len(own) - 1)))
    kept = [1 if i in axes else extent for i, extent in enumerate(own)]
    means = {"ReduceMean": lambda t: t.mean(axes, keepdim=True), "ReduceMax": lambda t: t.amax(axes, keepdim=True), "ReduceMin": lambda t: t.amin(axes, keepdim=True),
             "ReduceL2": lambda t: t.square().sum(axes, keepdim=True).sqrt(), "ReduceLogSumExp": lambda t: torch.logsumexp(t, axes, keepdim=True)}
    which = draw.choice(["softmax", "softmax", "norm", "rms", "logsoftmax", "reduce", "reduce", "center", "instance"])
    if which == "softmax":
        y = graph.softmax(x, axes[0])
    elif which == "logsoftmax":
        y = graph.apply("LogSoftmax", [x], own, lambda t: torch.log_softmax(t, axes[0]), axis=axes[0])
    elif which == "norm":
        y = graph.layerNorm(x)
    elif which == "rms":
        y = graph.rmsNorm(x)
    elif which == "instance" and math.prod(own[2:]) > 1:
        y = graph.apply("InstanceNormalization", [x, graph.weight(own[1]), graph.weight(own[1])], own, lambda t, g, b: F.instance_norm(t, weight=g, bias=b))
    else:
        op = "ReduceMean" if which == "center" else draw.choice(list(means))
        y = graph.apply(op, [x], kept, means[op], [graph.integers(*axes)])
        if which != "reduce":
            y = graph.binary("Sub", x, y)
    return graph.unary(draw.choice(list(unaries)), y) if draw.random() < 0.4 else y


def moves(draw, graph):
    """Data that is moved more than it is computed: slices, pads, joins, gathers, turns, with elementwise steps between."""
    x = graph.input(*shape(draw, draw.choice([2, 3, 4])))
    for _ in range(draw.randint(2, 6)):
        own = graph.shapes[x]
        axis = draw.randrange(len(own))
        which = draw.choice(["slice", "pad", "concat", "gather", "transpose", "unary", "binary", "reshape"])
        if which == "slice" and own[axis] > 2:
            begin, step = draw.randrange(own[axis] // 2), draw.choice([1, 1, 1, 2, 3])
            x = graph.slice(x, axis, begin, draw.randint(begin + 1, own[axis]), step)
        elif which == "pad":
            x = graph.pad(x, *([draw.randint(0, 3) if i == axis else 0 for i in range(len(own))] for _ in range(2)))
        elif which == "concat":
            other = graph.input(*[draw.randint(1, extent) if i == axis else extent for i, extent in enumerate(own)])
            x = graph.concat(draw.choice([[x, other], [other, x], [x, x]]), axis)
        elif which == "gather":
            x = graph.gather(x, axis, [draw.randrange(own[axis]) for _ in range(draw.randint(1, min(own[axis], 64)))])
        elif which == "transpose":
            x = graph.transpose(x, draw.sample(range(len(own)), len(own)))
        elif which == "unary":
            x = graph.unary(draw.choice(list(unaries)), x)
        elif which == "binary":
            x = graph.binary(draw.choice(list(binaries)), x, graph.input(*[extent if draw.random() < 0.6 else 1 for extent in own]))
        elif which == "reshape" and len(own) > 2:
            x = graph.reshape(x, own[0] * own[1], *own[2:])
    return x if graph.steps and math.prod(graph.shapes[x]) <= mostElements else None


def pooling(draw, graph):
    """A window's maximum or mean, or a resize to twice the size."""
    images, channels, height, width = draw.choice([1, 2, 8]), size(draw, 1, 256), size(draw, 6, 200), size(draw, 6, 200)
    if images * channels * height * width > mostElements // 4:
        return None
    x = graph.input(images, channels, height, width)
    which, window, stride = draw.choice(["MaxPool", "AveragePool", "Resize"]), draw.choice([2, 3, 5]), draw.choice([1, 2, 3])
    if which == "Resize":
        mode = draw.choice(["nearest", "linear"])
        sizes = {"nearest": dict(mode="nearest"), "linear": dict(mode="bilinear", align_corners=False)}[mode]
        attributes = {"nearest": dict(coordinate_transformation_mode="asymmetric", nearest_mode="floor"), "linear": dict(coordinate_transformation_mode="half_pixel")}[mode]
        to = (images, channels, 2 * height, 2 * width)
        return graph.apply("Resize", [x], to, lambda t: F.interpolate(t, scale_factor=2, **sizes), ["", "", graph.integers(*to)], mode=mode, **attributes)
    pad = draw.randint(0, window // 2)
    out = [(extent + 2 * pad - window) // stride + 1 for extent in (height, width)]
    functions = {"MaxPool": lambda t: F.max_pool2d(t, window, stride, pad), "AveragePool": lambda t: F.avg_pool2d(t, window, stride, pad, count_include_pad=False)}
    y = graph.apply(which, [x], (images, channels, *out), functions[which], kernel_shape=[window] * 2, strides=[stride] * 2, pads=[pad] * 4)
    return graph.unary("Relu", graph.binary("Add", y, graph.weight(channels, 1, 1)))


families = {"product": (product, 4), "convolution": (convolution, 3), "attention": (attention, 3), "rows": (rows, 3), "moves": (moves, 2), "pooling": (pooling, 1)}


def cases(seed, count):
    """`count` cases, the same for the same seed. The number in a case's name is that of its own draw."""
    result, number = [], seed * 1000000
    while len(result) < count:
        number += 1
        draw = random.Random(number)
        family = draw.choices(list(families), [share for _, share in families.values()])[0]
        graph = Graph(draw, draw.choice([half, half, brain, single]))
        if families[family][0](draw, graph) and graph.steps:
            result.append(graph.case(family, number))
    return result
