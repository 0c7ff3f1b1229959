"""Descriptions of parameters and attributes that several classes share, each written once.

A docstring names a shared description by a line that holds only the name in braces, such as ``{delta}`` in the section
of parameters. `OneClassClassifier` replaces these lines in every new subclass, so that `help` and Sphinx show the full
text. A class whose parameter differs describes it itself.
"""

from __future__ import annotations

import re
from inspect import cleandoc, signature
from textwrap import indent
from types import FunctionType

__all__ = ["complete_docstrings"]

#: A line of a docstring that holds only ``{name}``.
_PLACEHOLDER = re.compile(r"^([ \t]*)\{(\w+)\}$", re.MULTILINE)


def complete_docstrings(cls: type) -> None:
    """Replace the lines ``{name}`` in the docstrings of a class and of its own methods by the shared descriptions.

    ``{default}`` in a description becomes the default value of that parameter in `__init__`.
    """
    defaults = {name: parameter.default for name, parameter in signature(cls).parameters.items()}
    for documented in (cls, *vars(cls).values()):
        if isinstance(documented, type | FunctionType) and documented.__doc__:  # None under ``python -OO``
            documented.__doc__ = _completed(documented.__doc__, defaults, documented.__qualname__)


def _completed(doc: str, defaults: dict[str, object], where: str) -> str:
    def description(found: re.Match[str]) -> str:
        margin, key = found.groups()
        if key not in _DESCRIPTIONS:
            raise LookupError(f"{where}: the docstring has the line {{{key}}}, but no shared description has this name")
        text = cleandoc(_DESCRIPTIONS[key])
        if "{default}" in text:
            text = text.replace("{default}", _written(defaults[text.partition(" ")[0]]))
        return indent(text, margin)

    return _PLACEHOLDER.sub(description, doc)


def _written(default: object) -> str:
    """A default value as numpydoc writes it: strings in double quotes."""
    return f'"{default}"' if isinstance(default, str) else repr(default)


_DESCRIPTIONS = {
    # Parameters of all classifiers.
    "delta": """
        delta : float in [0, 1), default={default}
            Requested false-alarm rate: the share of normal rows that the classifier may reject. 0 accepts every
            training row.
        """,
    "confidence": """
        confidence : float in (0, 1), optional
            Probability with which the false-alarm rate of this fitted model should be at most `delta`. By default,
            `delta` refers to the mean rate over training sets. A fit with a `confidence` rejects fewer rows.
        """,
    "rate_by": """
        rate_by : {"group", "row"}, default={default}
            What `delta` is a share of, if the fit has `groups`. ``"group"``: the mean over new groups of the share of
            their rows that is rejected; every group counts equally. ``"row"``: the share of all rows of new groups;
            large groups count more. These differ if groups of different size differ in other ways too.
        """,
    "hold_out": """
        hold_out : {"auto", "split", "plus", "folds"} or float in (0, 1), default={default}
            How held-out losses are made (docs/calibration.md). ``"auto"`` and ``"folds"``: five folds; the model of all
            rows is kept. ``"split"``: the model learns from one half of the rows, and the other half is held out; a
            number is the share that is held out. This keeps the rate for every distribution. ``"plus"``: five folds,
            whose models are kept, and p-values of CV+: at most about twice the rate for every distribution.
        """,
    "hold_out_of_closed_form": """
        hold_out : {"auto", "split", "plus", "folds", "loo"} or float in (0, 1), default={default}
            How held-out losses are made (docs/calibration.md). ``"loo"``: leave-one-out in closed form. ``"folds"``:
            five folds; the model of all rows is kept. ``"auto"``: leave-one-out if it is possible and rows have little
            influence on the scaling, otherwise five folds. ``"split"``: the model learns from one half of the rows, and
            the other half is held out; a number is the share that is held out. This keeps the rate for every
            distribution. ``"plus"``: five folds, whose models are kept, and p-values of CV+: at most about twice the
            rate for every distribution.
        """,
    "scale": """
        scale : {"robust", "zscore"} or False, default={default}
            How features are scaled. ``"robust"`` is ``asinh((x - median) / s)``, where s is the distance between the
            10 % and the 90 % quantile, in units in which s is 1 for a standard normal distribution: extreme rows do not
            change the scale of the others, and large values grow only logarithmically. ``"zscore"`` is
            ``(x - mean) / s``, where s is the standard deviation. False does not scale. Constant features are centered
            only.
        """,
    "random_state_of_centers": """
        random_state : int, RandomState instance or None, default={default}
            Seed of the first centers. None gives the same result at every fit.
        """,
    # Parameters of kernels.
    "kernel": """
        kernel : {"rbf", "laplacian", "polynomial", "linear", "precomputed"}, kernel or callable, default={default}
            Similarity of two rows: a name, a kernel of the library such as ``RBF(sigma=2.0)``, or a function
            ``k(X, Y)``. With ``"precomputed"``, `X` holds kernel values.
        """,
    "sigma": """
        sigma : float or {"local", "likelihood", "mean", "third", "rms", "median"}, default={default}
            Bandwidth of a radial kernel that is given by name: a number, or a rule. ``"mean"`` is the mean distance
            between training rows (the paper), ``"third"`` a third of it, ``"median"`` the median distance, and
            ``"rms"`` the rule of the authors' released code. ``"likelihood"`` maximizes the likelihood of the training
            rows, or of 500 of them if there are more. ``"local"`` does so too, but the bandwidth is at most five times
            the mean distance between nearest neighbors, or half the mean distance if that is larger.
        """,
    "sigma_of_svm": """
        sigma : float or {"mean", "third", "rms", "median"}, default={default}
            Bandwidth of a radial kernel that is given by name: a number, or a rule. ``"mean"`` is the mean distance
            between training rows (the paper), ``"third"`` a third of it, ``"median"`` the median distance, and
            ``"rms"`` the rule of the authors' released code.
        """,
    # Parameters of the machines.
    "C": """
        C : float or {"auto", "likelihood"}, default={default}
            Weight of the training error. A larger C fits the training rows more closely. ``"auto"`` is the number of
            training rows divided by 64, but at least 8 and at most 32. ``"likelihood"`` is the value between 2^-5 and
            2^5 that maximizes the likelihood of the training rows; it is nearly always the largest.
        """,
    "C_of_hidden_layer": """
        C : float, default={default}
            Weight of the training error. A larger C fits the training rows more closely. The original method uses 1e8.
        """,
    "lam": """
        lam : float, default={default}
            Weight of the norm of the output weights. The variance term has weight 1/C and the norm has weight lam/C. To
            multiply the weight of the variance by w, use ``C / w`` and ``lam / w``.
        """,
    "n_hidden": """
        n_hidden : int, default={default}
            Number of hidden units. A fit takes time in proportion to the number of rows times the square of
            `n_hidden`.
        """,
    "activation_of_hidden_layer": """
        activation : {"sigmoid", "tanh"}, default={default}
            Activation function g of the hidden units.
        """,
    "loss": """
        loss : {"reconstruction", "uncertainty", "predictive", "either"}, default={default}
            Loss of a row. ``"reconstruction"`` is the squared error of its reconstruction (the original method).
            ``"uncertainty"`` is the machine's variance at the row, which is large far from the training rows.
            ``"predictive"`` adds both: it is the expected squared error. ``"either"`` is the larger of the two, each
            divided by its median over the held-out rows; the error of each column is first divided by the column's mean
            held-out error.
        """,
    "threshold_of_machine": """
        threshold : {"held_out", "train", "authors"}, default={default}
            How the threshold is chosen. ``"held_out"`` is the (1 - delta) quantile of the leave-one-out losses, which
            gives the requested false-alarm rate. ``"train"`` is the paper's rule on the training losses, ``"authors"``
            the rule of the authors' released code.
        """,
    "variance": """
        variance : {"subclass", "class", "none"} or matrix of shape (n, n), default={default}
            Variance of the outputs that the fit keeps small: within clusters of rows, within the whole class, or none.
            A matrix is a symmetric positive semi-definite Laplacian over the training rows (`knn_laplacian`,
            `scatter_laplacian`).
        """,
    "n_clusters_of_variance": """
        n_clusters : int, default={default}
            Number of clusters of the ``"subclass"`` variance; smaller if there are fewer distinct rows. The clustering
            is deterministic and does not depend on the order of the rows.
        """,
    "centering": """
        centering : {"own", "global"}, default={default}
            Mean from which the deviations of a cluster's rows are measured: ``"own"`` is the mean of the cluster, as in
            the usual within-cluster scatter; ``"global"`` is the mean of all rows, as printed in the paper.
        """,
    "r": """
        r : float, default={default}
            Target output for normal rows; not 0. Scores grow with it. Labels and p-values do not depend on it, except
            with ``threshold="mean"``.
        """,
    "approximation": """
        approximation : "auto", None, Nystrom or Fourier, default={default}
            How the kernel is represented. None fits exactly, with all rows in memory: time n³, memory n².
            ``Nystrom(m)`` and ``Fourier(m)`` use m landmarks or m random Fourier features: time n m², memory m². They
            also keep the losses, a few numbers for each row; for chunks and Dask collections, of at most a million
            rows. ``"auto"`` fits exactly up to 2,000 rows (30,000 on a GPU) if the memory is sufficient, and uses
            ``Nystrom(1000)`` otherwise. For chunks and Dask collections, None means ``"auto"``.
        """,
    "known_outliers": """
        known_outliers : {"learn", "ignore"}, default={default}
            What `fit` does with rows that are labelled as outliers: ``"learn"`` learns to recognize rows like them
            (docs/known_outliers.md), ``"ignore"`` leaves them out.
        """,
    "device": """
        device : str or device, default={default}
            Where to compute if the rows are NumPy arrays or tables: for example ``"cuda"`` (needs PyTorch). PyTorch and
            CuPy arrays stay on the device that holds them.
        """,
    "random_state_of_features": """
        random_state : int, RandomState instance or None, default={default}
            Seed of the landmarks and the random features. None gives the same result at every fit. An exact fit draws
            no random numbers.
        """,
    "random_state_of_hidden_layer": """
        random_state : int, RandomState instance or None, default={default}
            Seed of the hidden units. None gives the same result at every fit.
        """,
    # Parameters of the baselines.
    "delta_of_folds": """
        delta : float in [0, 1), default={default}
            Requested false-alarm rate: the share of normal rows that the classifier may reject.
        """,
    "threshold_of_folds": """
        threshold : {"held_out", "train", "authors"}, default={default}
            How the threshold is chosen. ``"held_out"`` is the (1 - delta) quantile of the held-out losses of five
            folds, which gives the requested false-alarm rate. ``"train"`` is the rule of dd_tools on the training
            losses, ``"authors"`` the rule of the VAAKELM authors' released code. Only ``"held_out"`` computes the
            held-out losses that p-values and other values of `delta` need.
        """,
    "threshold_of_svm": """
        threshold : {"held_out", "train", "authors", "boundary"}, default={default}
            How the threshold is chosen. ``"held_out"`` is the (1 - delta) quantile of the held-out losses of five
            folds, which gives the requested false-alarm rate. ``"train"`` is the rule of dd_tools on the training
            losses, ``"authors"`` the rule of the VAAKELM authors' released code, and ``"boundary"`` the boundary from
            the optimization itself: the hyperplane of `OCSVM`, the sphere of `SVDD`. Only ``"held_out"`` computes the
            held-out losses that p-values and other values of `delta` need.
        """,
    "threshold_of_leave_one_out": """
        threshold : {"held_out", "train", "authors"}, default={default}
            How the threshold is chosen. ``"held_out"`` is the (1 - delta) quantile of the leave-one-out losses, which
            gives the requested false-alarm rate. ``"train"`` is the rule of dd_tools on the training losses,
            ``"authors"`` the rule of the VAAKELM authors' released code.
        """,
    "tol_of_svm": """
        tol : float in (0, inf), default={default}
            Tolerance of libsvm, which stops when it is reached.
        """,
    # Parameters of methods.
    "y": """
        y : array-like of shape (n_samples,), optional
            Labels. The labels +1 (against -1), 1 (against 0), True, "target", "normal" and "inlier" mark rows of the
            target class. The other rows are known outliers: kernel machines, `SVDD` and `Calibrated` learn from them,
            other classifiers leave them out. Rows with a missing label are left out. If there are several other labels,
            a warning says so and the fit uses all rows.
        """,
    "segments": """
        segments : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The segment of each row, as labels of any kind: for example a site, a product or an age class. The
            false-alarm rate holds in each segment, because a row is ranked within its own segment. (Groups, in
            contrast, say which rows depend on one another.) A column with segments is not a feature. If a segment has
            too few rows for the rate, a warning names it, and its rows are ranked among all rows too (docs/groups.md).
            Needs ``threshold="held_out"`` and rows in memory.
        """,
    "segments_of_rows": """
        segments : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The segment of each row, if the fit had `segments`; by default their column in `X`, if they were given as a
            column. The rate holds in each segment.
        """,
    "rows_to_reconstruct": """
        X : array-like of shape (n_samples, n_features)
            Rows to reconstruct.
        """,
    # Attributes of all classifiers.
    "offset_": """
        offset_ : float
            Threshold on `score_samples`: rows with a lower score are outliers.
        """,
    "calibration_": """
        calibration_ : Calibration
            Held-out losses of the training rows, from which thresholds and p-values are computed.
        """,
    "calibration_or_none_": """
        calibration_ : Calibration or None
            Held-out losses of the training rows, from which thresholds and p-values are computed. None if the rule of
            `threshold` does not need them.
        """,
    "calibration_if_quick_": """
        calibration_ : Calibration or None
            Held-out losses of the training rows, from which thresholds and p-values are computed. None if the rule of
            `threshold` does not need them and they would take extra time (docs/calibration.md).
        """,
    "n_features_in_": """
        n_features_in_, feature_names_in_
            As in scikit-learn.
        """,
    "scaler_and_features_": """
        scaler_, n_features_in_, feature_names_in_
            Fitted scaling; number and names of the features, as in scikit-learn.
        """,
    # Attributes of the machines.
    "machine_": """
        machine_ : Machine
            The whole fit as one frozen value: recipe, scaling, kernel, model.
        """,
    "known_": """
        known_ : KnownOutliers
            The known outliers that were learned (``known_.rows``, scaled); only if there are any.
        """,
    "model_of_kernel_": """
        model_ : fitted model
            After an exact fit: the scaled training rows (``model_.rows``) and the output weights A
            (``model_.weights``). After an approximated fit: the feature map (``model_.map``) and the weights of the
            features (``model_.weights``).
        """,
    "model_of_hidden_layer_": """
        model_ : fitted model
            Weights and biases of the hidden layer (``model_.map``) and the output weights B (``model_.weights``).
        """,
    "factor_of_model_": """
        A loss that uses the variance also needs the Cholesky factor: n² numbers, or m² after an approximated fit. Files
        do not contain it; it is computed again after loading. An approximated fit keeps the rows for that if they are
        few (``model_.equations``).
        """,
    "scaler_and_kernel_of_machine_": """
        scaler_, kernel_, sigma_, C_, signal_
            Fitted scaling, kernel, bandwidth (of radial kernels), value of C, and variance of the targets.
        """,
    "scaler_of_hidden_layer_": """
        scaler_, C_, signal_
            Fitted scaling, value of C, and variance of the targets.
        """,
    "approximation_": """
        approximation_ : None, Nystrom or Fourier
            How the machine was fitted; None after an exact fit.
        """,
    "cluster_labels_": """
        cluster_labels_ : array of shape (n_samples,)
            Cluster of each training row, for the ``"subclass"`` variance.
        """,
    # Attributes of the baselines.
    "support_": """
        support_ : array of shape (n_support,)
            Row numbers of the support vectors.
        """,
    "support_vectors_": """
        support_vectors_ : array of shape (n_support, n_features)
            Scaled support vectors.
        """,
    "scaler_and_kernel_of_svm_": """
        scaler_, kernel_, sigma_
            Fitted scaling, kernel and bandwidth (of radial kernels).
        """,
    "training_rows_": """
        rows_ : array of shape (n_samples, n_features)
            Scaled training rows.
        """,
}
