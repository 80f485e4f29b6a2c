"""Writes AMD's code objects of an artifact as FOLDER/0.hsaco, 1.hsaco, ...: code_objects.py ARTIFACT FOLDER"""
import pathlib
import struct
import sys

artifact, folder = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path(sys.argv[2])
at, count = artifact.find(b"\x7fELF"), 0
while at >= 0:
    following = artifact.find(b"\x7fELF", at + 4)
    if struct.unpack_from("<H", artifact, at + 18)[0] == 224:  # EM_AMDGPU
        (folder / f"{count}.hsaco").write_bytes(artifact[at:following if following >= 0 else None])
        count += 1
    at = following
