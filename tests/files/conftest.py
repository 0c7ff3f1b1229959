import pytest

from saved import CASES


@pytest.fixture(params=CASES)
def case(request):
    """The name of a fitted classifier."""
    return request.param


@pytest.fixture
def path(tmp_path):
    """Where a model may lie."""
    return tmp_path / "model.oneclass"
