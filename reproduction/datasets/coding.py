"""Numbers that stand for the words in the Imports file."""

from collections.abc import Mapping

__all__ = ["IMPORTS_CODES", "IMPORTS_COLUMNS"]

IMPORTS_COLUMNS = [
    "normalized_losses",
    "make",
    "fuel_type",
    "aspiration",
    "num_doors",
    "body_style",
    "drive_wheels",
    "engine_location",
    "wheel_base",
    "length",
    "width",
    "height",
    "curb_weight",
    "engine_type",
    "num_cylinders",
    "engine_size",
    "fuel_system",
    "bore",
    "stroke",
    "compression_ratio",
    "horsepower",
    "peak_rpm",
    "city_mpg",
    "highway_mpg",
    "price",
]

_NUMBERS = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "eight": "8", "twelve": "12"}


def _ranked(words: str) -> dict[str, str]:
    return {word: str(i) for i, word in enumerate(words.split(), start=1)}


IMPORTS_CODES: Mapping[str, Mapping[str, str]] = {
    "fuel_type": _ranked("gas diesel"),
    "aspiration": _ranked("std turbo"),
    "num_doors": _NUMBERS,
    "body_style": _ranked("convertible hatchback sedan wagon hardtop"),
    "drive_wheels": _ranked("fwd rwd 4wd"),
    "engine_location": _ranked("front rear"),
    "engine_type": _ranked("l dohc ohcv ohc ohcf"),
    "num_cylinders": _NUMBERS,
    # 6 and 7 are systems that occur only in rows with missing values.
    "fuel_system": {**_ranked("mpfi idi mfi 1bbl 2bbl"), "spdi": "8"},
}
