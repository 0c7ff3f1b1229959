"""What scikit-learn's checks of an estimator must say, whatever its version."""

import sklearn
from sklearn.utils.fixes import parse_version

__all__ = ["assert_all_passed"]


def assert_all_passed(checks):
    """All checks (name, status, exception) have passed, among them the one of arrays of other libraries."""
    assert [check for check in checks if check[1] != "passed"] == []
    if parse_version(sklearn.__version__) >= parse_version("1.9"):  # before, detectors do not have this check
        assert "check_array_api_input" in {check[0] for check in checks}
