"""One-class classification: learn what is normal from normal rows alone, and keep the false-alarm rate asked for."""

from . import baselines, machines, plot, selection, stream, tabular
from .base.explanation import Explanation
from .base.independence import time_blocks
from .base.pipeline import OneClassPipeline, make_one_class_pipeline
from .base.reason import Reason
from .base.warnings import (
    ColumnWarning,
    DependentRowsWarning,
    FewRowsWarning,
    LabelWarning,
    OneClassWarning,
    SegmentWarning,
    ShiftedBatchWarning,
    SlowFitWarning,
    TrainingRowsWarning,
    UnreachableRateWarning,
)
from .baselines import (
    OCRF,
    OCSVM,
    SVDD,
    AutoencoderDetector,
    KCentersDetector,
    KMeansDetector,
    KNNDetector,
    MSTDetector,
    NaiveParzen,
    Parzen,
    PCADetector,
)
from .baselines.calibrated import Calibrated
from .core.approximation import Fourier, Nystrom
from .core.batch_verdict import BatchVerdict, ColumnChange
from .core.calibration import rows_needed
from .core.kernels import RBF, Laplacian, Linear, Polynomial
from .core.segments import SegmentRate
from .files import ModelFileError, load, to_onnx
from .io.sinks import EscapedCSV
from .io.table_file import TableFile
from .machines import AAELM, AAKELM, OCELM, OCKELM, VAAKELM, VOCKELM
from .machines.laplacians import knn_laplacian, scatter_laplacian
from .reporting import Report, report
from .screening import CopiedColumn, Screening, SuspectCell
from .selection import OneClassKFold, OneClassSearchCV
from .stream import Patience, Stream
from .tabular import TableDetector, screen

__version__: str

__all__ = [
    "AAELM",
    "AAKELM",
    "OCELM",
    "OCKELM",
    "OCRF",
    "OCSVM",
    "RBF",
    "SVDD",
    "VAAKELM",
    "VOCKELM",
    "AutoencoderDetector",
    "BatchVerdict",
    "Calibrated",
    "ColumnChange",
    "ColumnWarning",
    "CopiedColumn",
    "DependentRowsWarning",
    "EscapedCSV",
    "Explanation",
    "FewRowsWarning",
    "Fourier",
    "KCentersDetector",
    "KMeansDetector",
    "KNNDetector",
    "LabelWarning",
    "Laplacian",
    "Linear",
    "MSTDetector",
    "ModelFileError",
    "NaiveParzen",
    "Nystrom",
    "OneClassKFold",
    "OneClassPipeline",
    "OneClassSearchCV",
    "OneClassWarning",
    "PCADetector",
    "Parzen",
    "Patience",
    "Polynomial",
    "Reason",
    "Report",
    "Screening",
    "SegmentRate",
    "SegmentWarning",
    "ShiftedBatchWarning",
    "SlowFitWarning",
    "Stream",
    "SuspectCell",
    "TableDetector",
    "TableFile",
    "TrainingRowsWarning",
    "UnreachableRateWarning",
    "baselines",
    "knn_laplacian",
    "load",
    "machines",
    "make_one_class_pipeline",
    "plot",
    "report",
    "rows_needed",
    "scatter_laplacian",
    "screen",
    "selection",
    "stream",
    "tabular",
    "time_blocks",
    "to_onnx",
]
