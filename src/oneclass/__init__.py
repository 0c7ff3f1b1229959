"""One-class classification: learn from normal rows alone, and deliver the false-alarm rate asked for."""

import lazy_loader

__version__ = "0.2.0"

# The public names are listed in __init__.pyi. A module is imported when one of its names is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
