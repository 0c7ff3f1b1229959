"""Classes of the frozen values in fitted baselines; files may contain objects of these classes."""

from __future__ import annotations

from ._neighbors import Neighbors
from ._rounding import Rounding
from ._training import Cross, Learned
from ._tree import Segments
from ._with_known import WithKnown
from .autoencoder import _Network
from .calibrated import _Scored
from .kcenters import _Balls
from .kmeans import _Clusters
from .knn import _Neighborhood
from .mst import _Tree as _SpanningTree
from .naive_parzen import _Densities, _Density
from .ocrf import _Forest, _Seen, _Tree
from .ocsvm import _Halfspace
from .parzen import _Mixture
from .pca import _Plane
from .svdd import _Ball

__all__ = ["MODELS"]

MODELS: tuple[type, ...] = (
    Cross,
    Learned,
    Neighbors,
    Rounding,
    Segments,
    WithKnown,
    _Ball,
    _Balls,
    _Clusters,
    _Densities,
    _Density,
    _Forest,
    _Halfspace,
    _Mixture,
    _Neighborhood,
    _Network,
    _Plane,
    _Scored,
    _Seen,
    _SpanningTree,
    _Tree,
)
