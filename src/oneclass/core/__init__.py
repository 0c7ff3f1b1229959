"""Pure mathematics: arrays in, arrays out; no scikit-learn, no input or output."""
