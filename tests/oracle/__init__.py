"""Slow, loop-by-loop versions of the equations, kept apart from the library that they judge."""
