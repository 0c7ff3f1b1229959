"""The method `save`, which writes a fitted estimator to a file."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..io.codec import encode
from ..io.container import write
from .unknown_parameters import refusing_unknown

__all__ = ["Saved"]


class Saved:
    """An estimator that can be saved, and that names what to use instead of parameters that it does not have."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = refusing_unknown(cls.__init__)  # type: ignore[method-assign]

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the fitted estimator into a file, for `oneclass.load`.

        The file holds a JSON header and arrays, but no code: see docs/files.md. It is written under a temporary name
        and then renamed, so that an interrupted call leaves no partial file.

        Parameters
        ----------
        path : str or Path
            The file to write or replace; its usual suffix is ``.oneclass``.
        force : bool, default=False
            Whether to overwrite a file that is not a model. By default such a file is an error.

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
        # A copy, because another thread may fit the estimator meanwhile.
        write(path, *encode(copy.copy(self)), force=force)

    def __derived__(self) -> dict[str, object]:
        """Fitted attributes that `load` recomputes from others and from the parameters: files do not hold them."""
        return {}
