"""Exits with 1 unless two .npy files of float32 have equal headers and agree to 1e-5 of their largest magnitude."""
import array
import struct
import sys


def read(path):
    data = open(path, "rb").read()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    return data[:end], array.array("f", data[end:])


(headA, a), (headB, b) = read(sys.argv[1]), read(sys.argv[2])
assert headA == headB and len(a) > 0, "headers differ, or there is nothing to compare"
worst = max(abs(x - y) for x, y in zip(a, b))
sys.exit(worst > 1e-5 * max(map(abs, a)))
