"""Fitted estimators as files."""

from __future__ import annotations

import copy
from pathlib import Path

from sklearn.utils.validation import check_is_fitted

from ..io.codec import encode
from ..io.container import write

__all__ = ["Saved"]


class Saved:
    """An estimator that can be saved."""

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator into a file, for `oneclass.load`.

        The file holds a JSON header and arrays, no code: see docs/files.md. It is written beside its place and then
        moved into it, so that it is there whole or not at all.

        Parameters
        ----------
        path : str or Path
            The file to write or to replace; by custom it ends in ``.oneclass``.

        Examples
        --------
        >>> import numpy as np, oneclass, tempfile
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = oneclass.OCKELM().fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model.oneclass")
        ...     again = oneclass.load(f"{folder}/model.oneclass")
        >>> bool((again.score_samples(X) == model.score_samples(X)).all())
        True
        """
        check_is_fitted(self)
        write(path, *encode(copy.copy(self)))  # a thread may fit it meanwhile

    def __derived__(self) -> dict[str, object]:
        """Fitted attributes that follow from others and from the parameters: left out of files, and found again."""
        return {}
