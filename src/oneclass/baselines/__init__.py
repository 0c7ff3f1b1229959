"""The ten other classifiers of the paper and the density that it names, behind the contract of the kernel machines."""

from .autoencoder import AutoencoderDetector
from .kcenters import KCentersDetector
from .kmeans import KMeansDetector
from .knn import KNNDetector
from .mst import MSTDetector
from .multivariate_parzen import Parzen
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
    "Parzen",
]
