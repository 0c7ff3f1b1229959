"""Fitted classifiers as ONNX graphs: the same formulas, written down operator by operator."""
