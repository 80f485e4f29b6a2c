"""writeNodeTests.py FOLDER: writes the node tests of the installed onnx as FOLDER/NAME/model.onnx and test_data_set_N/{input,output}_I.pb.

A test whose tolerances differ from onnx's own gets them in data.json: {"rtol": ..., "atol": ...}.
"""
import json
import pathlib
import sys

import numpy
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def proto(value, info):
    """A value as the protobuf that its type in the model asks for."""
    kind = info.type.WhichOneof("value")
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    return numpy_helper.from_array(numpy.asarray(value), info.name)


def write(case, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    if (case.rtol, case.atol) != (1e-3, 1e-7):
        (folder / "data.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir(exist_ok=True)
        for stem, values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for i, (value, info) in enumerate(zip(values, infos)):
                (data / f"{stem}_{i}.pb").write_bytes(proto(value, info).SerializeToString())


def main():
    target = pathlib.Path(sys.argv[1])
    cases = collect_testcases(None)
    for case in cases:
        write(case, target / case.name)
    print(f"{len(cases)} tests in {target}")


if __name__ == "__main__":
    main()
