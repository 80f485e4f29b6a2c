"""What the cases of contrib.py are written with: a table of them, a node, and random numbers."""
import numpy as np

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
