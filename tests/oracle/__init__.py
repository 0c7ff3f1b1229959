"""Slow, loop-by-loop versions of the equations, independent of the library that they test."""
