"""Export of fitted classifiers as ONNX graphs."""
