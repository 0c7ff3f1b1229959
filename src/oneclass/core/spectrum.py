r"""One eigendecomposition that serves every C: the machines as Gaussian-process regression with a whitened kernel.

With the symmetric matrix :math:`\tilde K = K(\lambda I + MK)^{-1}` the residuals are :math:`(I + C \tilde K)^{-1} T`.
After the eigendecomposition :math:`W^{1/2} \tilde K W^{1/2} = U \Lambda U'`, a new C needs only products with U.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .arrays import Array, device, namespace
from .embedding import Embedding, NoVariance
from .solve import TrainingRows

__all__ = ["Spectrum", "log_density"]


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and eigenvectors of the whitened kernel of weighted rows with targets `T`."""

    values: Array
    vectors: Array
    roots: Array  # square roots of the row weights
    T: Array
    projected: Array  # U' W^1/2 T
    recover: Array  # (lam I + M K)^-1 W^1/2 U: from spectral coordinates back to dual weights

    @classmethod
    def of(cls, K: Array, T: Array, w: Array, embedding: Embedding, *, lam: float) -> Spectrum:
        """Return the decomposition for the full kernel matrix `K` of rows with targets `T` and weights `w`."""
        xp = namespace(K)
        roots = xp.sqrt(w)
        if isinstance(embedding, NoVariance):
            whitened = K / lam
        else:
            diagonal = lam * xp.eye(K.shape[0], dtype=K.dtype, device=device(K))
            whitened = xp.linalg.solve(diagonal + (embedding.laplacian(w) @ K).T, K)
            whitened = (whitened + whitened.T) / 2
        values, U = xp.linalg.eigh(roots[:, None] * whitened * roots[None, :])
        values = xp.clip(values, min=0.0)
        recover = roots[:, None] * U - embedding.laplacian(w) @ (U * values / roots[:, None])
        return cls(values, U, roots, T, U.T @ (roots[:, None] * T), recover / lam)

    def rows(self, *, C: float) -> TrainingRows:
        """Return the residuals and leverages of the training rows for this C."""
        xp = namespace(self.values)
        damping = 1 / (1 + C * self.values)
        residuals = (self.vectors @ (damping[:, None] * self.projected)) / self.roots[:, None]
        w = self.roots**2
        unit = xp.clip(w, max=1.0)
        spare = 1 - (unit / w) * (1 - (self.vectors**2) @ damping)
        leverage = (self.vectors**2) @ (C * self.values * damping) / w
        return TrainingRows(self.T, residuals, w, leverage, xp.clip(spare, min=xp.finfo(spare.dtype).smallest_normal))

    def weights(self, *, C: float) -> Array:
        """Return the dual weights A for this C: the outputs of new rows are ``k(z) A``."""
        return C * (self.recover @ ((1 / (1 + C * self.values))[:, None] * self.projected))

    def log_marginal_likelihood(self, *, C: float, signal: float | None = None) -> float:
        """Return the log density of the targets for the prior ``signal * K~`` and the noise ``signal / C``.

        `signal` is the variance tau²; None means the value that maximises the likelihood. A row of weight w is
        equivalent to w rows.
        """
        xp = namespace(self.values)
        d = self.T.shape[1]
        n = float(xp.sum(self.roots**2))
        quadratic = float(xp.sum(xp.sum(self.projected**2, axis=1) / (self.values + 1 / C)))
        log_det = float(xp.sum(xp.log(self.values + 1 / C)))
        return log_density(quadratic, log_det, n, d, copies=n - self.values.shape[0], C=C, signal=signal)


def log_density(
    quadratic: float, log_det: float, n: float, d: int, *, copies: float, C: float, signal: float | None = None
) -> float:
    """Return the log density of n Gaussian rows of d targets, from the quadratic form and log det of K~ + W^-1/C.

    `copies` is n minus the number of distinct rows; each copy adds the determinant of its noise only. If `signal` is
    None, the variance that maximises the density is used.
    """
    signal = quadratic / (n * d) or 1.0 if signal is None else signal
    log_det -= copies * math.log(C)
    return float(-0.5 * (d * (log_det + n * math.log(2 * math.pi * signal)) + quadratic / signal))
