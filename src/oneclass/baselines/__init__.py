"""Other one-class classifiers, with the interface of the kernel machines: the ten of the paper, and Parzen."""

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
