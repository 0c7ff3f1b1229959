"""The ten other classifiers of the paper, behind the same contract as the kernel machines."""

from .autoencoder import AutoencoderDetector
from .kcenters import KCentersDetector
from .kmeans import KMeansDetector
from .knn import KNNDetector
from .mst import MSTDetector
from .ocrf import OCRF
from .ocsvm import OCSVM
from .parzen import NaiveParzen
from .pca import PCADetector
from .svdd import SVDD

__all__ = [
    "OCRF",
    "OCSVM",
    "SVDD",
    "AutoencoderDetector",
    "KCentersDetector",
    "KMeansDetector",
    "KNNDetector",
    "MSTDetector",
    "NaiveParzen",
    "PCADetector",
]
