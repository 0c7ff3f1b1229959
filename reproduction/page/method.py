"""Page: how the experiments were run."""

from __future__ import annotations

from ..protocol import RECIPES
from ..results import Results
from .markdown import table

__all__ = ["method", "recipes"]


def recipes() -> str:
    """The recipes and what each does, as a table.

    Returns
    -------
    str
    """
    return table(["recipe", "what it does"], [[f"`{name}`", text] for name, text in RECIPES.items()], left=2)


def method(results: Results) -> str:
    """The choices that the paper leaves open, and what was done.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    return f"""\
A row of results has a recipe, which says what was run:

{recipes()}

## Splits

`round(0.8 n)` rows of each class are for training and validation; the other rows are the test set. Every split draws
them at random. The training part is cut into five folds. All methods and both recipes on random splits (`paper` and
`honest`) have the same splits.

## Recipe `paper`, kernel machines

- Features are z-scored with the mean and deviation (divisor n - 1, as in MATLAB) of the training targets. Sigma is the
  mean distance, lambda is 1.
- C is searched in 2^-5..2^5, k in 1..10 and delta in 1, 5 and 10 %. The chosen parameters maximise the mean over the
  folds of sqrt(P R); of equal maxima the first is taken.
- VAAKELM and VOCKELM embed the variance inside clusters about the mean of all rows, as printed.
- The threshold is s_dec(floor(delta n)) of the training scores. VOCKELM's is delta times the mean output.
- The library's `OneClassSearchCV` does the search: it decomposes one matrix for each fold and number of clusters, and
  every C and delta follow from it. Then the estimator itself is fitted with the chosen parameters; this fit is timed
  and tested.

## Recipe `paper`, the other classifiers

- Features are z-scored too, as the text says. The paper names no further parameters, so delta is searched, and for
  k-means also the number of clusters (1..10).
- The threshold of OCSVM is LIBSVM's rho; that of SVDD is the radius of its ball. SVDD has the kernel of dd_tools,
  exp(-d²/sigma²). OCRF takes the majority of its trees, so delta has no effect on it. All others have the threshold
  of dd_tools on training scores.
- These settings are the defaults of dd_tools: five tanh units in the autoencoder, 90 % of the variance for PCA, five
  centres from 25 starts for k-centres, the whole tree for MST, Parzen widths by leave-one-out likelihood.
- MST has the quantile of the edge lengths as threshold. Equal training rows give edges of length zero, and these count
  among the lengths. (Of 225 targets of Survival 15 are copies, of Breast Cancer 3, of Cardiotocography 2; others have
  none.) Whether dd_tools counts them was not checked.
- These are not: the autoencoder is trained by scikit-learn's L-BFGS (dd_tools has MATLAB's `trainbfg`); k-NN chooses
  k of 2 or more; PCA leaves out at least one direction; k-means starts three times by k-means++; OCRF grows
  scikit-learn's trees; and delta is searched where dd_tools rejects 5 or 10 % by default.

## Recipe `honest`

The defaults of the library's constructors, with delta = 5 %. No fit uses an outlier. But the defaults were chosen by
the AUROC on tasks that include these datasets with their outliers ([the defaults](../defaults.md)).

## What ± means

After a mean over splits, ± gives the standard deviation over the splits (divisor n - 1). After a difference of two
methods, it gives the standard error of the difference over the splits that both have."""
