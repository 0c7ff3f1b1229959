"""Losses of a fitted baseline's training rows in the order in which they were given; `calibration_` ranks them."""


def training_of(model, X):
    """What the baseline learnt from."""
    return model._training(model._read_training(X)[0], model.scaler_)


def losses_held_out(model, X):
    """Held-out loss of each training row."""
    training = training_of(model, X)
    free = model._held_out_losses(model.model_, training)
    return model._losses_by_folds(model.model_, training, model._partition(training.Z, None)) if free is None else free
