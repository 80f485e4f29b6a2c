"""Cases of ai.onnx.ml."""
import numpy as np
from onnx import numpy_helper

from oraclecase import case, Node, f32, pick, scale


def forest(r, trees, depth, features, targets, kind, positive=False):
    """Complete trees by ids; each leaf votes for one target, or for all."""
    a = {k: [] for k in ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_values", "nodes_modes", "nodes_truenodeids",
                         "nodes_falsenodeids", "nodes_missing_value_tracks_true", f"{kind}_treeids", f"{kind}_nodeids", f"{kind}_ids",
                         f"{kind}_weights")}
    mode = pick(r, "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")
    every = pick(r, True, False)
    for t in range(trees):
        inner = 2 ** depth - 1
        for i in range(2 * inner + 1):
            leaf = i >= inner
            a["nodes_treeids"].append(t), a["nodes_nodeids"].append(i)
            a["nodes_featureids"].append(0 if leaf else int(r.integers(features)))
            a["nodes_values"].append(0.0 if leaf else float(np.round(r.standard_normal(), 1)))
            a["nodes_modes"].append("LEAF" if leaf else mode)
            a["nodes_truenodeids"].append(0 if leaf else 2 * i + 1), a["nodes_falsenodeids"].append(0 if leaf else 2 * i + 2)
            a["nodes_missing_value_tracks_true"].append(0 if leaf else int(r.integers(2)))
            for target in (range(targets) if every else [int(r.integers(targets))]) if leaf else []:
                a[f"{kind}_treeids"].append(t), a[f"{kind}_nodeids"].append(i), a[f"{kind}_ids"].append(target)
                a[f"{kind}_weights"].append(float(r.uniform(0, 1) if positive else r.standard_normal()))
    return a


def features_of(r, rows, columns):
    x = f32(r, rows, columns)
    x[r.uniform(size=x.shape) < 0.1] = np.nan
    x[r.uniform(size=x.shape) < 0.2] = np.float32(np.round(0.3, 1))
    return x


@case
def tree_ensemble_regressor(r):
    targets = pick(r, 1, 1, 3)
    base = {"base_values": [float(v) for v in r.standard_normal(targets)]} if pick(r, 0, 1) else {}
    return Node("TreeEnsembleRegressor", [features_of(r, 9, 4)], domain="ai.onnx.ml", n_targets=targets,
                aggregate_function=pick(r, "SUM", "AVERAGE", "MIN", "MAX"),
                post_transform=pick(r, "NONE", "NONE", "LOGISTIC", "SOFTMAX") if targets > 1 else "NONE", **base,
                **forest(r, int(r.integers(1, 5)), 3, 4, targets, "target"))


@case
def tree_ensemble_classifier(r):
    classes = pick(r, 2, 3, 4)
    votes = pick(r, 1, 2) if classes == 2 else classes  # one base value with two voting classes leaves a score unwritten
    base = {"base_values": [float(v) for v in r.standard_normal(classes)]} if votes > 2 and pick(r, 0, 1) else {}
    if votes == 1 and pick(r, 0, 1):
        base = {"base_values": [0.3]}
    return Node("TreeEnsembleClassifier", [features_of(r, 9, 4)], outputs=2, domain="ai.onnx.ml",
                classlabels_int64s=[int(v) for v in r.permutation(10)[:classes]],
                post_transform=pick(r, "NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"), **base,
                **forest(r, int(r.integers(1, 5)), 3, 4, votes, "class", pick(r, True, False)))


@case
def tree_ensemble(r):
    inner, features, targets = 7, 4, pick(r, 1, 2)
    leaves = inner + 1
    yes = [2 * i + 1 if 2 * i + 1 < inner else 2 * i + 1 - inner for i in range(inner)]
    no = [2 * i + 2 if 2 * i + 2 < inner else 2 * i + 2 - inner for i in range(inner)]
    leaf = [int(2 * i + 1 >= inner) for i in range(inner)]
    return Node("TreeEnsemble", [features_of(r, 9, features)], domain="ai.onnx.ml", version=5, opset=21, n_targets=targets,
                aggregate_function=1, post_transform=0, tree_roots=[0], nodes_featureids=[int(v) for v in r.integers(0, features, inner)],
                nodes_truenodeids=yes, nodes_falsenodeids=no, nodes_trueleafs=leaf, nodes_falseleafs=leaf,
                nodes_splits=numpy_helper.from_array(f32(r, inner)), nodes_modes=numpy_helper.from_array(r.integers(0, 4, inner).astype(np.uint8)),
                nodes_missing_value_tracks_true=[int(v) for v in r.integers(0, 2, inner)],
                leaf_targetids=[int(v) for v in r.integers(0, targets, leaves)], leaf_weights=numpy_helper.from_array(f32(r, leaves)))


def floats(r, count):
    return [float(v) for v in r.standard_normal(count)]


@case
def linear_regressor(r):
    targets = pick(r, 1, 3)
    return Node("LinearRegressor", [f32(r, 5, 4)], domain="ai.onnx.ml", targets=targets, coefficients=floats(r, 4 * targets),
                intercepts=floats(r, targets))


@case
def linear_classifier(r):
    classes = pick(r, 1, 2, 3)
    return Node("LinearClassifier", [f32(r, 5, 4)], outputs=2, domain="ai.onnx.ml", coefficients=floats(r, 4 * classes), intercepts=floats(r, classes),
                classlabels_ints=[int(v) for v in r.permutation(10)[:max(classes, 2)]], post_transform=pick(r, "NONE", "SOFTMAX", "LOGISTIC"))


@case
def svm_regressor(r):
    vectors = pick(r, 0, 5)
    return Node("SVMRegressor", [f32(r, 6, 3)], domain="ai.onnx.ml", n_supports=vectors, coefficients=floats(r, vectors or 3), rho=floats(r, 1),
                **({"support_vectors": floats(r, vectors * 3)} if vectors else {}), kernel_type=pick(r, "LINEAR", "RBF", "POLY", "SIGMOID") if vectors else "LINEAR",
                kernel_params=[0.3, 0.2, 2.0], one_class=pick(r, 0, 0, 1))


@case
def svm_classifier(r):
    classes = pick(r, 2, 3)
    per = [int(v) for v in r.integers(1, 4, classes)]
    pairs = classes * (classes - 1) // 2
    extra = {"prob_a": [-abs(v) - 0.5 for v in floats(r, pairs)], "prob_b": floats(r, pairs)} if pick(r, 0, 1) else {}
    return Node("SVMClassifier", [f32(r, 6, 3)], outputs=2, domain="ai.onnx.ml", vectors_per_class=per, support_vectors=floats(r, 3 * sum(per)),
                coefficients=floats(r, (classes - 1) * sum(per)), rho=floats(r, pairs), kernel_type=pick(r, "LINEAR", "RBF", "POLY", "SIGMOID"),
                kernel_params=[0.3, 0.2, 2.0], classlabels_ints=[int(v) for v in r.permutation(10)[:classes]],
                post_transform=pick(r, "NONE", "NONE", "LOGISTIC", "SOFTMAX"), **extra)


@case
def features(r):
    which, ml = r.integers(9), {"domain": "ai.onnx.ml"}
    x = features_of(r, 5, 3)
    if which == 0:
        return Node("Scaler", [np.nan_to_num(x)], offset=floats(r, 3), scale=floats(r, 3), **ml)
    if which == 1:
        return Node("Normalizer", [np.nan_to_num(x)], norm=pick(r, "MAX", "L1", "L2"), **ml)
    if which == 2:
        return Node("Imputer", [x], imputed_value_floats=floats(r, 3), replaced_value_float=float("nan"), **ml)
    if which == 3:
        return Node("Binarizer", [np.nan_to_num(x)], threshold=0.2, **ml)
    if which == 4:
        return Node("LabelEncoder", [r.integers(0, 5, (3, 4))], version=2, keys_int64s=[0, 2, 3], values_floats=[0.5, 1.5, 2.5], default_float=-3.0, **ml)
    if which == 5:
        return Node("LabelEncoder", [x], version=2, keys_floats=[float("nan"), float(np.float32(0.3))], values_int64s=[7, 8], default_int64=-2, **ml)
    if which == 6:
        return Node("OneHotEncoder", [r.integers(0, 5, (3, 4))], cats_int64s=[0, 3, 1], zeros=1, **ml)
    if which == 7:
        return Node("FeatureVectorizer", [f32(r, 4, 3), f32(r, 4, 2)], inputdimensions=[3, 2], **ml)
    return Node("ArrayFeatureExtractor", [f32(r, 4, 3), np.array([[2, 0]])], **ml)
