"""Numerical core: functions of arrays that return arrays, without scikit-learn and without input or output."""
