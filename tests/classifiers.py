"""The seventeen classifiers by name, made to fit quickly.

>>> quick("OCRF", delta=0.1)
OCRF(delta=0.1, n_estimators=20)
"""

import oneclass

MACHINES = tuple(oneclass.machines.__all__)
BASELINES = tuple(sorted(oneclass.baselines.__all__))

#: Small settings where the defaults take long.
QUICK = {
    "OCRF": {"n_estimators": 20},
    "AutoencoderDetector": {"hidden_layer_sizes": 2, "max_iter": 30},
    "KCentersDetector": {"n_init": 3},
    "OCELM": {"n_hidden": 20},
    "AAELM": {"n_hidden": 20},
}


def quick(name, **parameters):
    """The classifier of that name, with other parameters if asked."""
    return getattr(oneclass, name)(**QUICK.get(name, {}) | parameters)
