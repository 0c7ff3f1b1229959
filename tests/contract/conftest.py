"""All fourteen classifiers, quick."""

import pytest

import oneclass

#: Small settings where the defaults take long.
QUICK = {
    "OCRF": {"n_estimators": 5},
    "AutoencoderDetector": {"hidden_layer_sizes": 2, "max_iter": 30},
    "KCentersDetector": {"n_init": 3},
    "KMeansDetector": {"n_init": 1},
}


@pytest.fixture(params=["OCKELM", "VOCKELM", "AAKELM", "VAAKELM", *sorted(oneclass.baselines.__all__)])
def classifier(request):
    """A function that makes one of the fourteen, with other parameters if asked."""
    return lambda **parameters: getattr(oneclass, request.param)(**QUICK.get(request.param, {}) | parameters)
