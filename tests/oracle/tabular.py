#!/usr/bin/env python3
"""Exports models trained by scikit-learn, LightGBM and XGBoost, with ONNX Runtime's outputs, as folders that `tilewright test` reads.

    tests/oracle/tabular.py OUT          then      tilewright test OUT

Needs scikit-learn, skl2onnx, onnxruntime; lightgbm, xgboost and onnxmltools where those models are wanted.
"""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper
from sklearn import datasets, ensemble, linear_model, naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm, tree
from sklearn import cluster, compose, decomposition, impute
from skl2onnx import to_onnx


def write(folder, model, feeds):
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for i, (name, value) in enumerate(feeds.items()):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    for i, (name, value) in enumerate(zip(names, session.run(names, feeds))):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())


def estimators():
    flowers, diabetes = datasets.load_iris(), datasets.load_diabetes()
    two, names = flowers.target < 2, flowers.target_names.astype(object)
    classes = {"three": (flowers.data, flowers.target), "two": (flowers.data[two][:, :2], flowers.target[two]),
               "words": (flowers.data, names[flowers.target]), "two_words": (flowers.data[two][:, :2], names[flowers.target[two]])}
    for name, (x, y) in classes.items():
        for model in (linear_model.LogisticRegression(max_iter=500), linear_model.SGDClassifier(), tree.DecisionTreeClassifier(max_depth=4),
                      ensemble.RandomForestClassifier(20), ensemble.ExtraTreesClassifier(10), ensemble.GradientBoostingClassifier(n_estimators=10),
                      ensemble.HistGradientBoostingClassifier(max_iter=10), ensemble.AdaBoostClassifier(n_estimators=5),
                      svm.SVC(), svm.SVC(kernel="poly", probability=True), svm.LinearSVC(), neighbors.KNeighborsClassifier(3),
                      naive_bayes.GaussianNB(), neural_network.MLPClassifier((8,), max_iter=200)):
            scaled = pipeline.make_pipeline(preprocessing.StandardScaler(), model)
            yield f"{type(model).__name__}_{getattr(model, 'kernel', '')}_{name}".lower(), scaled, x, y
    x, y = diabetes.data, diabetes.target
    for model in (linear_model.LinearRegression(), linear_model.Ridge(), tree.DecisionTreeRegressor(max_depth=5), ensemble.RandomForestRegressor(20),
                  ensemble.GradientBoostingRegressor(n_estimators=20), ensemble.HistGradientBoostingRegressor(max_iter=10), svm.SVR(),
                  neighbors.KNeighborsRegressor(3), neural_network.MLPRegressor((8,), max_iter=100), ensemble.IsolationForest(n_estimators=5),
                  svm.OneClassSVM()):
        yield type(model).__name__.lower(), pipeline.make_pipeline(preprocessing.MinMaxScaler(), model), x, y
    steps = [("numbers", pipeline.make_pipeline(impute.SimpleImputer(), preprocessing.PolynomialFeatures(2)), [0, 1, 2]),
             ("bins", preprocessing.KBinsDiscretizer(4, encode="onehot-dense"), [3, 4]), ("unit", preprocessing.Normalizer(), [5, 6])]
    yield "columns", pipeline.make_pipeline(compose.ColumnTransformer(steps), decomposition.PCA(4), linear_model.Ridge()), x, y
    words = np.resize(np.array(["red", "green", "blue", "?"], object), (len(x), 1))
    for encoder in (preprocessing.OneHotEncoder(sparse_output=False, handle_unknown="ignore"), preprocessing.OrdinalEncoder()):
        yield f"{type(encoder).__name__}_words".lower(), encoder, words, None
    yield "kmeans", cluster.KMeans(3, n_init=2), x, None


def boosted():
    import lightgbm
    import onnxmltools
    import xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType

    x, y = datasets.load_iris(return_X_y=True)
    z, t = datasets.load_diabetes(return_X_y=True)
    shape = lambda a: [("input", FloatTensorType([None, a.shape[1]]))]
    for name, x1, y1 in (("three", x, y), ("two", x[:100, :2], y[:100])):
        yield f"lightgbm_{name}", onnxmltools.convert_lightgbm(lightgbm.LGBMClassifier(n_estimators=10, verbose=-1).fit(x1, y1), initial_types=shape(x1), zipmap=False), x1
        yield f"xgboost_{name}", onnxmltools.convert_xgboost(xgboost.XGBClassifier(n_estimators=10).fit(x1, y1), initial_types=shape(x1)), x1
    yield "lightgbm_regressor", onnxmltools.convert_lightgbm(lightgbm.LGBMRegressor(n_estimators=10, verbose=-1).fit(z, t), initial_types=shape(z)), z
    yield "xgboost_regressor", onnxmltools.convert_xgboost(xgboost.XGBRegressor(n_estimators=10).fit(z, t), initial_types=shape(z)), z


def main():
    out = pathlib.Path(sys.argv[1])
    np.random.seed(0)
    for name, model, x, y in estimators():
        rows = np.ascontiguousarray(x[::3], object if x.dtype == object else np.float32)
        try:
            model.fit(x, y)
            last = model.steps[-1][1] if hasattr(model, "steps") else model
            options = {"zipmap": False} if hasattr(last, "classes_") and not name.startswith("isolation") else None
            proto = to_onnx(model, rows[:1], options=options)
            write(out / name, proto, {proto.graph.input[0].name: rows})
        except Exception as error:
            print(f"{name}: {str(error)[:300]}", file=sys.stderr)
    try:
        for name, proto, x in boosted():
            write(out / name, proto, {proto.graph.input[0].name: np.ascontiguousarray(x[::3], np.float32)})
    except ImportError as error:
        print(f"no boosted trees: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
