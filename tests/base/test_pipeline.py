"""A classifier behind preprocessing answers as it would on the rows that it is given, about the pipeline's columns."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.utils.estimator_checks import check_estimator

from oneclass import AAKELM, KNNDetector, OneClassPipeline, OneClassSearchCV, PCADetector, make_one_class_pipeline
from oneclass.base.column_origins import folded, origins, restored

ROWS = np.random.default_rng(0).normal(size=(80, 3)) * [1.0, 10.0, 0.1] + [5.0, -3.0, 0.0]
FRESH = ROWS[:20] + np.random.default_rng(1).normal(size=(20, 3)) * [0.5, 50.0, 0.01]


def table(n=80, seed=0):
    """Numbers, categories whose names are traps, and a column without a meaning."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.lognormal(size=n),
            "kind": rng.choice(["a", "size_b", "0"], size=n),
            "number": np.arange(n),
            "size_b": rng.normal(size=n),
            "binary": rng.choice(["no", "yes"], size=n),
        }
    )


def encoder(**options):
    return ColumnTransformer(
        [
            ("two", make_pipeline(SimpleImputer(add_indicator=True), RobustScaler()), ["size_b", "size"]),
            ("one-hot", OneHotEncoder(sparse_output=False, **options), ["kind", "binary"]),
        ]
    )


# Verbs.


def test_verbs_are_those_of_the_classifier_on_prepared_rows():
    pipe = make_one_class_pipeline(RobustScaler(), AAKELM(delta=0.1)).fit(ROWS)
    alone = AAKELM(delta=0.1).fit(RobustScaler().fit_transform(ROWS))
    rows = pipe[0].transform(FRESH)
    for verb in ("predict", "decision_function", "score_samples", "p_value", "explain"):
        np.testing.assert_array_equal(getattr(pipe, verb)(FRESH), getattr(alone, verb)(rows))
    np.testing.assert_array_equal(pipe.predict(FRESH, delta=0.3), alone.predict(rows, delta=0.3))
    np.testing.assert_array_equal(pipe.p_value(FRESH, tail="pareto"), alone.p_value(rows, tail="pareto"))
    np.testing.assert_array_equal(pipe.label_batch(FRESH, q=0.4), alone.label_batch(rows, q=0.4))
    np.testing.assert_allclose(pipe.reconstruct(FRESH), pipe[0].inverse_transform(alone.reconstruct(rows)))
    assert pipe.false_alarm_interval(delta=0.2, confidence=0.9) == alone.false_alarm_interval(delta=0.2, confidence=0.9)
    assert pipe.offset_ == alone.offset_
    assert pipe.calibration_.total == alone.calibration_.total
    assert pipe.decision_ == alone.decision_


def test_a_pipeline_has_the_verbs_of_its_last_step_and_no_others():
    assert not hasattr(make_one_class_pipeline(StandardScaler(), KNNDetector()), "reconstruct")
    assert not hasattr(make_one_class_pipeline(StandardScaler(), PCA()), "p_value")
    with pytest.raises(AttributeError):
        make_one_class_pipeline(StandardScaler(), KNNDetector()).offset_  # noqa: B018


def test_a_pipeline_of_one_step_is_the_step():
    pipe = OneClassPipeline([("only", AAKELM())]).fit(ROWS)
    alone = AAKELM().fit(ROWS)
    for verb in ("p_value", "explain", "reconstruct"):
        np.testing.assert_array_equal(getattr(pipe, verb)(FRESH), getattr(alone, verb)(FRESH))


def test_a_search_as_the_last_step_is_asked_too():
    search = OneClassSearchCV(AAKELM(), {"C": [1.0, 8.0]}, criterion="likelihood")
    pipe = make_one_class_pipeline(RobustScaler(), search).fit(ROWS)
    best = pipe[-1].best_estimator_
    np.testing.assert_array_equal(pipe.explain(FRESH), best.explain(pipe[0].transform(FRESH)))
    assert pipe.calibration_ is best.calibration_


@pytest.mark.parametrize("routing", [False, True])
def test_groups_and_weights_reach_the_last_step(routing):
    groups, weights = np.arange(80) // 4, np.arange(80) % 3 + 1.0
    expected = AAKELM(delta=0.1).fit(RobustScaler().fit_transform(ROWS), groups=groups, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=routing):
        machine = AAKELM(delta=0.1)
        if routing:
            machine.set_fit_request(groups=True, sample_weight=True)
        pipe = make_one_class_pipeline(RobustScaler(), machine)
        assert pipe.fit(ROWS, groups=groups, sample_weight=weights).offset_ == expected.offset_
        expected_labels = pipe[-1].predict(pipe[0].transform(FRESH), delta=0.2)
        np.testing.assert_array_equal(pipe.predict(FRESH, delta=0.2), expected_labels)


def test_a_parameter_may_name_its_step():
    weights = np.arange(80) % 3 + 1.0
    pipe = make_one_class_pipeline(StandardScaler(), AAKELM()).fit(ROWS, standardscaler__sample_weight=weights)
    np.testing.assert_array_equal(pipe[0].mean_, StandardScaler().fit(ROWS, sample_weight=weights).mean_)


@pytest.mark.filterwarnings("ignore::oneclass.UnreachableRateWarning", "ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::oneclass.LabelWarning", "ignore::oneclass.LabelWarning")
@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # the irises are sorted by species
def test_every_check_of_scikit_learn_passes_that_its_own_pipeline_does():
    fitted_steps = "scikit-learn's Pipeline fits the steps that it is given"
    names = ("check_estimators_overwrite_params", "check_dont_overwrite_parameters")
    pipe = make_one_class_pipeline(StandardScaler(), KNNDetector())
    check_estimator(pipe, on_skip=None, expected_failed_checks=dict.fromkeys(names, fitted_steps))


def test_a_pipeline_supports_clone_set_params_and_set_output():
    pipe = make_one_class_pipeline(StandardScaler(), AAKELM(), memory=None).set_output(transform="pandas")
    twin = clone(pipe).set_params(aakelm__C=3.0).fit(table()[["size", "size_b"]])
    assert type(twin) is OneClassPipeline
    assert twin[-1].feature_names_in_.tolist() == ["size", "size_b"]
    assert (twin[-1].C_, pipe.get_params()["aakelm__C"]) == (3.0, AAKELM().C)
    assert twin.explain(table(5)[["size", "size_b"]]).shares.shape == (5, 2)


# Columns.


def shares_by_hand(names, prefixes, shares):
    """Sums over the columns whose names begin with one of the prefixes."""
    return shares[:, [any(name.startswith(prefix) for prefix in prefixes) for name in names]].sum(axis=1)


@pytest.mark.parametrize("make", [AAKELM, PCADetector], ids=lambda make: make.__name__)
def test_shares_of_encoded_columns_are_folded_back_onto_the_given_ones(make):
    X = table()
    X.loc[::9, "size"] = np.nan
    pipe = make_one_class_pipeline(encoder(), StandardScaler(), make()).fit(X)
    shares, names = pipe[-1].explain(pipe[:-1].transform(X)).parts, pipe[0].get_feature_names_out()
    found = pipe.explain(X).parts
    np.testing.assert_allclose(-found.sum(axis=1), pipe.score_samples(X))
    kinds = ["one-hot__kind_a", "one-hot__kind_size_b", "one-hot__kind_0"]
    sizes = [j for j, name in enumerate(names) if name in ("two__size", "two__missingindicator_size")]
    assert len(sizes) == 2
    np.testing.assert_allclose(found[:, 0], shares[:, sizes].sum(axis=1))
    np.testing.assert_allclose(found[:, 1], shares_by_hand(names, kinds, shares))
    assert (found[:, 2] == 0).all()  # dropped
    np.testing.assert_allclose(found[:, 3], shares[:, names.tolist().index("two__size_b")])
    np.testing.assert_allclose(found[:, 4], shares_by_hand(names, ["one-hot__binary"], shares))


COLUMNS = {
    "numbers": ([3, 0], [3, 0]),
    "a slice": (slice(1, 3), [1, 2]),
    "a mask": (np.array([True, False, False, True]), [0, 3]),
    "names": (["d", "a"], [3, 0]),
    "a slice of names": (slice("b", "c"), [1, 2]),
    "a choice": (lambda X: [3, 1], [3, 1]),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_columns_are_found_however_they_are_given(case):
    X = pd.DataFrame(ROWS[:, [0, 1, 2, 0]], columns=list("abcd"))
    given, found = COLUMNS[case]
    transformer = ColumnTransformer([("some", "passthrough", given)], remainder=StandardScaler()).fit(X)
    assert origins(transformer, 4).tolist() == [*found, *sorted({0, 1, 2, 3}.difference(found))]


@pytest.mark.parametrize("given", [1, "kind"])
def test_the_explanation_of_a_column_sums_its_encoded_columns(given):
    words = ColumnTransformer([("words", CountVectorizer(), given), ("number", "passthrough", [0])])
    assert origins(words.fit(table().assign(kind="one or two words")), 5).tolist() == [1, 1, 1, 1, 0]


def test_branches_of_a_union_come_of_the_same_columns():
    union = FeatureUnion([("raw", "passthrough"), ("bins", SplineTransformer(n_knots=2, degree=1)), ("none", "drop")])
    assert origins(union.fit(ROWS), 3).tolist() == [0, 1, 2, 0, 0, 1, 1, 2, 2]


def test_folding_adds_up_the_encoded_columns_of_one_column():
    shares = np.arange(12.0).reshape(3, 4)
    expected = np.column_stack([shares[:, 1], np.zeros(3), shares[:, 0] + shares[:, 2] + shares[:, 3]])
    np.testing.assert_array_equal(folded(shares, np.array([2, 0, 2, 2]), 3), expected)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (PCA(), "PCA computes a column from several others"),
        (PolynomialFeatures(), "PolynomialFeatures computes a column from several others"),
        (FunctionTransformer(np.abs), "FunctionTransformer does not name the columns that it makes"),
    ],
)
def test_mixed_columns_are_not_explained(step, why):
    pipe = make_one_class_pipeline(StandardScaler(), step, AAKELM()).fit(ROWS)
    with pytest.raises(ValueError, match=rf"OneClassPipeline: explain must lead back .*{why}; .*pipe\[-1\].explain"):
        pipe.explain(FRESH)
    assert pipe.p_value(FRESH).shape == (20,)


INVERTIBLE = {
    "scalers": make_pipeline(StandardScaler(), RobustScaler()),
    "power": PowerTransformer(),
    "quantiles": QuantileTransformer(n_quantiles=40),
    "rotation": PCA(),
    "function": FunctionTransformer(np.expm1, inverse_func=np.log1p),
    "imputer": SimpleImputer(add_indicator=True),
    "selection": make_pipeline(VarianceThreshold(), StandardScaler()),
    "branches": make_column_transformer((StandardScaler(), [2, 0]), remainder="passthrough"),
}


@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
@pytest.mark.parametrize("name", INVERTIBLE)
def test_what_was_transformed_is_restored(name, frame):
    X = pd.DataFrame(ROWS[:50] / 10, columns=["a", "b", "c"]) if frame else ROWS[:50] / 10
    transformer = clone(INVERTIBLE[name]).fit(X)
    np.testing.assert_allclose(restored(transformer, np.asarray(transformer.transform(X))), X, atol=1e-9)


@pytest.mark.parametrize(
    "step",
    [
        OneHotEncoder(sparse_output=False),
        OneHotEncoder(sparse_output=False, drop="first"),
        OneHotEncoder(sparse_output=False, drop="if_binary", handle_unknown="ignore"),
        OrdinalEncoder(),
    ],
    ids=["one-hot", "first dropped", "binary dropped", "ordinal"],
)
def test_the_likeliest_category_is_restored(step):
    X = table()[["kind", "binary"]]
    made = step.fit_transform(X)
    noise = np.random.default_rng(0).uniform(-0.24, 0.24, size=made.shape)
    assert (restored(step, made + noise) == X.to_numpy()).all()


def test_columns_that_the_classifier_does_not_see_are_not_rebuilt():
    X = table()
    pipe = make_one_class_pipeline(encoder(drop="if_binary"), AAKELM()).fit(X)
    rebuilt = pd.DataFrame(pipe.reconstruct(X), columns=X.columns)
    assert rebuilt["number"].isna().all()
    assert set(rebuilt["kind"]) <= set(X["kind"])
    assert np.mean(rebuilt["binary"] == X["binary"]) > 0.6
    assert np.corrcoef(rebuilt["size_b"].astype(float), X["size_b"])[0, 1] > 0.5
    numbers = make_column_transformer((StandardScaler(), ["size", "size_b"]))
    rebuilt = make_one_class_pipeline(numbers, AAKELM()).fit(X).reconstruct(X)
    assert rebuilt.dtype == float
    assert np.isnan(rebuilt).all(axis=0).tolist() == [False, True, True, False, True]


def test_of_two_branches_the_first_restores_a_column():
    both = make_column_transformer((StandardScaler(), [0]), (KBinsDiscretizer(3, quantile_method="linear"), [0]))
    X = ROWS[:, :1]
    made = both.set_params(sparse_threshold=0).fit_transform(X)
    np.testing.assert_allclose(restored(both, made), X)


@pytest.mark.parametrize("step", [FunctionTransformer(np.abs), PolynomialFeatures()], ids=lambda s: type(s).__name__)
def test_what_has_no_inverse_is_not_rebuilt(step):
    pipe = make_one_class_pipeline(step, AAKELM()).fit(ROWS)
    with pytest.raises(ValueError, match=rf"reconstruct must lead back .*{type(step).__name__} has no inverse"):
        pipe.reconstruct(FRESH)


def test_the_share_of_a_column_does_not_grow_with_its_encoded_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"price": rng.gamma(4, 1, 200), "town": rng.choice(["Bonn", "Graz", "Lyon"], 200)})
    encode = ColumnTransformer([("words", OneHotEncoder(sparse_output=False), ["town"])], remainder="passthrough")
    found = make_one_class_pipeline(encode, AAKELM()).fit(X).explain(X.assign(price=99.0))
    assert {reasons[0].column for reasons in found.top(1)} == {"price"}
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
