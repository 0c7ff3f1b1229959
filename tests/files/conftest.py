import pytest

from saved import CASES


@pytest.fixture(params=CASES)
def case(request):
    """The name of a fitted classifier."""
    return request.param


@pytest.fixture
def path(tmp_path):
    """Places of a model file."""
    return tmp_path / "model.oneclass"
