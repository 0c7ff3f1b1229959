"""The ten other classifiers of the paper and the density that it names, behind the contract of the kernel machines."""

from .autoencoder import AutoencoderDetector
from .kcenters import KCentersDetector
from .kmeans import KMeansDetector
from .knn import KNNDetector
from .mst import MSTDetector
from .naive_parzen import NaiveParzen
from .ocrf import OCRF
from .ocsvm import OCSVM
from .parzen import Parzen
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
    "Parzen",
]
