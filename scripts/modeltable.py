"""The models of tests/e2e/models.txt and the demos, for the scripts that compare builds or ways of fusing."""
import os

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
folders = {"shared": os.environ.get("TILEWRIGHT_SHARED", root + "/../shared") + "/models/real",
           "goldens": os.environ.get("TILEWRIGHT_GOLDENS", root + "/build/goldens")}


def wholeModels():
    """(name, path) of each row of tests/e2e/models.txt. A file may be absent."""
    for line in open(root + "/tests/e2e/models.txt"):
        if line.strip() and not line.startswith("#"):
            name, data = line.split()[:2]
            yield name, f"{folders[data]}/{name}/model.onnx"


def demos():
    """(demo/NAME, path) of each demo that the release build has written."""
    folder = root + "/build/release/models/demo"
    if not os.path.isdir(folder):
        raise SystemExit(f"expected the demo models in {folder}: ninja -C build/release writes them")
    for name in sorted(os.listdir(folder)):
        if os.path.isdir(f"{folder}/{name}"):
            yield "demo/" + name, f"{folder}/{name}/model.onnx"


def chosen(names, rows):
    """The rows of these names, or all if there are no names; and a sentence for each whose file is absent."""
    rows = [row for row in rows if not names or row[0] in names]
    there = [row for row in rows if os.path.exists(row[1])]
    return there, [f"{row[0]}: expected {row[1]}" for row in rows if not os.path.exists(row[1])]
