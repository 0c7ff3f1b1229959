"""Preparation of a release: everything up to the upload, and checks of it. Run `python -m release`."""
