"""One-class classification: learn what is normal from normal rows alone, and keep the false-alarm rate asked for."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: Where the public names are; a module is imported when one of its names is first asked for, and costs nothing before.
#: What is public is said once more, for editors and type checkers, in __init__.pyi.
_NAMES = {
    "baselines": "OCRF OCSVM SVDD AutoencoderDetector KCentersDetector KMeansDetector "
    "KNNDetector MSTDetector NaiveParzen Parzen PCADetector",
    "contract.explanation": "Explanation Reason",
    "contract.independence": "time_blocks",
    "contract.notices": "DependentRowsWarning FewRowsWarning SmallRateWarning",
    "contract.pipeline": "OneClassPipeline make_one_class_pipeline",
    "contract.screening": "Screening",
    "core.approximation": "Fourier Nystrom",
    "core.calibration": "rows_needed",
    "core.kernels": "RBF Laplacian Linear Polynomial",
    "disk.tables": "TableFile",
    "files": "ModelFileError load to_onnx",
    "machines": "AAELM AAKELM OCELM OCKELM VAAKELM VOCKELM",
    "machines.laplacians": "knn_laplacian scatter_laplacian",
    "reporting": "Report report",
    "selection": "OneClassKFold OneClassSearchCV",
    "stream": "Patience Stream",
    "tabular": "TableDetector",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        return found
    try:
        return import_module(f".{name}", __name__)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
