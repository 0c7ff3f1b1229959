from functools import partial

import pytest

from classifiers import BASELINES, MACHINES, quick


@pytest.fixture(params=[*MACHINES, *BASELINES])
def classifier(request):
    """A function that makes one of the classifiers, with other parameters if asked."""
    return partial(quick, request.param)
