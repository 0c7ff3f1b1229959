"""Base classes of all classifiers: public methods, reading of rows and labels, and checks of parameters."""
