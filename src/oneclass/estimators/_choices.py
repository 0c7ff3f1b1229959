"""Choices that machines share: rebuild the row or a constant, and which variance to embed."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..core import clusters
from ..core.arrays import Array, device, namespace, ones
from ..core.embedding import Embedding, NoVariance, Scatter, UserLaplacian, WithinVariance
from ..core.score import SCORES, contributions, predictive, squared
from ._input import check_choice, check_integer, check_number
from ._kernel_machine import KernelMachine

__all__ = ["AutoAssociative", "Constant", "MinimumVariance"]


class _HiddenParameter:
    """A parameter that cannot be read as an attribute, only by `get_params`.

    scikit-learn takes whatever is called `score` on an estimator for a method, and would call the parameter.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, machine: Any, owner: type | None = None) -> Any:
        raise AttributeError(f"{self._name} is a parameter; read it with get_params()[{self._name!r}]")

    def __set__(self, machine: Any, value: object) -> None:
        vars(machine)[self._name] = value


class AutoAssociative(KernelMachine):
    """``T = X``: the outputs rebuild the row."""

    score = _HiddenParameter()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the machine by name.

        Parameters
        ----------
        deep : bool, default=True
            Present for scikit-learn's sake: no parameter is an estimator.

        Returns
        -------
        dict
            Names and values.
        """
        return {name: vars(self)[name] for name in self._get_param_names()}

    def _target(self, Z: Array) -> Array:
        return Z

    @property
    def _wants_variance(self) -> bool:  # type: ignore[override]
        return check_choice(self, "score", SCORES) != "reconstruction"

    def _loss(self, residuals: Array, variance: Array | None) -> Array:
        score = vars(self)["score"]
        if variance is None or score == "reconstruction":
            return squared(residuals)
        return variance if score == "uncertainty" else predictive(residuals, variance, signal=self.signal_)

    def reconstruct(self, X: Any) -> Array:
        """The rows as the machine rebuilds them, in the user's own units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to rebuild.

        Returns
        -------
        array of shape (n_samples, n_features)
            Expected values of every feature.
        """
        return self._of_rows(X, lambda rows: self._in_blocks(rows, self._rebuilt))

    def _rebuilt(self, Z: Array) -> Array:
        return self.scaler_.inverse(self.model_.outputs(self.model_.features(Z)))

    def explain(self, X: Any) -> Array:
        """Contribution of every feature to the score: minus its squared residual in z-scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to explain.

        Returns
        -------
        array of shape (n_samples, n_features)
            One row a sample, one column a feature; a row sums to its score. The most negative feature is the most
            to blame.
        """
        check_is_fitted(self)
        if vars(self)["score"] == "uncertainty":
            raise AttributeError(
                f"{self._name}: score='uncertainty' is one number for the whole row and has no shares of features; "
                "use score='predictive' or 'reconstruction'"
            )
        return self._of_rows(X, lambda rows: self._in_blocks(rows, self._blamed))

    def _blamed(self, Z: Array) -> Array:
        return -contributions(*self._judge(Z), signal=self.signal_)


class Constant(KernelMachine):
    """``T = r 1``: the outputs of normal rows are near `r`."""

    r: float

    def _target(self, Z: Array) -> Array:
        r = check_number(self, "r", -float("inf"), float("inf"))
        if r == 0:
            raise ValueError(f"{self._name}: r must not be 0, the output of a row that is far from all others")
        return r * ones(Z)[:, None]


class MinimumVariance(KernelMachine):
    """``M = variance``: outputs of similar rows are pulled together."""

    variance: Any
    n_clusters: int
    centring: str
    variance_weight: float

    def _scatter(self) -> Scatter | None:
        weight = check_number(self, "variance_weight", 0, float("inf"), closed_low=True)
        if self._is_matrix:
            raise ValueError(f"{self._name}: a matrix as variance needs an exact fit, approximation=None")
        if self.variance == "none":
            return None
        if self.variance == "class":
            return Scatter(per_row=True, weight=weight)
        if self.variance == "subclass":
            return Scatter(own_mean=check_choice(self, "centring", ("own", "global")) == "own", weight=weight)
        choices = "'none', 'class', 'subclass' or an n x n matrix"
        raise ValueError(f"{self._name}: variance must be {choices}; got {self.variance!r}")

    def _centres(self, Z: Array, w: Array, splits: clusters.Splits | None = None) -> Array | None:
        if self.variance != "subclass":
            return None
        return clusters.kmeans(Z, w, check_integer(self, "n_clusters", 1), splits=splits)

    def _embedding(self, Z: Array, w: Array, splits: clusters.Splits | None = None) -> Embedding:
        if self._is_matrix:
            return self._laplacian(Z, check_number(self, "variance_weight", 0, float("inf"), closed_low=True))
        scatter = self._scatter()
        if scatter is None:
            return NoVariance()
        centres = self._centres(Z, w, splits)
        if centres is None:
            return WithinVariance(ones(Z)[:, None], scatter)
        self.labels_ = clusters.assign(Z, centres)
        membership = clusters.one_hot(self.labels_, centres.shape[0], Z)
        present = w @ membership > 0
        return WithinVariance(membership.T[present].T, scatter)

    @property
    def _is_matrix(self) -> bool:
        return hasattr(self.variance, "shape")

    def _laplacian(self, Z: Array, weight: float) -> UserLaplacian:
        xp = namespace(Z)
        M = xp.asarray(self.variance, dtype=Z.dtype, device=device(Z))
        if self._columns is not None and M.shape == 2 * self._columns.shape:
            M = M[self._columns].T[self._columns]  # rows of weight zero leave here too; M is symmetric
        n = Z.shape[0]
        if M.shape != (n, n):
            raise ValueError(
                f"{self._name}: variance must have shape {(n, n)}, a row for each row, got {tuple(M.shape)}"
            )
        if not bool(xp.all(xp.abs(M - M.T) <= 1e-8 * (1 + xp.max(xp.abs(M))))):
            raise ValueError(f"{self._name}: variance must be symmetric positive semi-definite when it is a matrix")
        return UserLaplacian(M, weight)
