"""Writes arrays in every input format, with Python's standard library only; --compare DIR NPZ FOLDER compares outputs."""
import os
import struct
import sys
import zipfile


def npy(shape, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %r, }\n" % (shape,)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%df" % len(values), *values)


def tensor_proto(name, shape, values):
    def field(number, payload):
        return bytes([number << 3 | 2, len(payload)]) + payload
    dims = b"".join(bytes([1 << 3, size]) for size in shape)
    return dims + bytes([2 << 3, 1]) + field(8, name.encode()) + field(9, struct.pack("<%df" % len(values), *values))


def write(name, members, method=zipfile.ZIP_STORED, zip64=False):
    with zipfile.ZipFile(name, "w", method) as archive:
        for member, data in members.items():
            with archive.open(member, "w", force_zip64=zip64) as file:
                file.write(data)


if sys.argv[1] == "--compare":
    os.chdir(sys.argv[2])
    archive = zipfile.ZipFile(sys.argv[3])
    names = archive.namelist()
    assert names and sorted(names) == sorted(os.listdir(sys.argv[4])), names
    assert all(archive.read(name) == open(os.path.join(sys.argv[4], name), "rb").read() for name in names)
    sys.exit()

os.chdir(sys.argv[1])
first, second = [float(i) for i in range(12)], [i / 8 for i in range(8)]
a, b = npy((3, 4), first), npy((4, 2), second)
open("a.npy", "wb").write(a)
write("both.npz", {"b.npy": b, "a.npy": a}, zip64=True)
write("packed.npz", {"a.npy": a, "b.npy": b}, zipfile.ZIP_DEFLATED)
write("only-b.npz", {"arr_0.npy": b})
write("positional.npz", {"arr_0.npy": a, "arr_1.npy": b})
good = open("both.npz", "rb").read()
open("truncated.npz", "wb").write(good[:-10])
open("altered.npz", "wb").write(good.replace(struct.pack("<f", 11.0), struct.pack("<f", 12.0)))
result = [sum(first[i * 4 + k] * second[k * 2 + j] for k in range(4)) for i in range(3) for j in range(2)]
for number, scale in enumerate([1, 2]):
    folder = "set/test_data_set_%d/" % number
    open(folder + "input_0.pb", "wb").write(tensor_proto("a", (3, 4), [scale * x for x in first]))
    open(folder + "input_1.pb", "wb").write(tensor_proto("b", (4, 2), second))
    open(folder + "output_0.pb", "wb").write(tensor_proto("y", (3, 2), result))
