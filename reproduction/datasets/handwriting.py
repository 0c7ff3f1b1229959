"""Cards of the digit tasks: one digit against the other nine, in four collections."""

from functools import partial

from . import images
from .card import Card, RawFile
from .fingerprints import FINGERPRINTS
from .uci import CC_BY, page, raw

__all__ = ["CONCORDIA", "DIGITS", "SEMEION", "USPS"]

VAAKELM = "https://github.com/PratikMishra/VAAKELM"
DKRLVOC = "https://github.com/Chandan-IITI/Deep-Kernel-Learning-for-One-class-Classification"

MATS = {
    0: RawFile("concordia/Concordia_0.mat", "44566cdecf0d524b060eca45e16c8d10a03b8de01ff92b114a918802f7b37ff5"),
    1: RawFile("concordia/Concordia_1.mat", "6f9f905977a98b9c342936b58bf66f741997b50a4802fd152c2d68dc6906f288"),
    5: RawFile("concordia/Concordia_5.mat", "517e2ba90a99ec6068da527ac693a9cf953d1038bc6383700ac9a9b83546db87"),
}
CSV = RawFile(
    "concordia/concordia_digits.csv",
    "d76653509b7d9f446ce6741250dd2189ae429ebdaa0ec643341272a5480f6eed",
    also=("tidy/concordia_digits.csv", "../tidy/concordia_digits.csv"),
    origin="was compiled from the files of two authors' repositories, with some digits inferred, and is not published",
)
PIXEL_NOTE = "Pixels are whole numbers 0..225; divide by 225 for the authors' values. 27 rows repeat another row."
INFERRED_NOTE = (
    "The digit of 904 of the 4000 rows is inferred (28 of these are doubtful); load(..., strict=True) drops them."
)


def _concordia(k: int) -> Card:
    exact = k in MATS
    return Card(
        name=f"concordia_{k}",
        title=f"Concordia_{k}",
        family="concordia",
        source=DKRLVOC if k == 5 else VAAKELM,
        licence="none stated (CENPARMI, Concordia University)",
        target=f"digit {k}",
        recipe="the authors' training and test rows together"
        if exact
        else "all rows, with the digits of concordia_digits.csv",
        rows=4000,
        targets=400,
        features=256,
        fingerprint=FINGERPRINTS[f"concordia_{k}"],
        read=images.concordia_mat if exact else partial(images.concordia_csv, digit=k),
        raw=MATS.get(k, CSV),
        notes=(PIXEL_NOTE,) if exact else (PIXEL_NOTE, INFERRED_NOTE),
    )


def _usps(k: int, targets: int) -> Card:
    return Card(
        name=f"usps_{k}",
        title=f"USPS {k}",
        family="usps",
        source="https://github.com/hyzhang98/AnchorGAE-torch",
        licence="none stated",
        target=f"digit {k}",
        recipe="all rows of usps_all.mat",
        rows=9298,
        targets=targets,
        features=256,
        fingerprint=FINGERPRINTS[f"usps_{k}"],
        read=partial(images.usps, digit=k),
        raw=RawFile("usps/usps_all.mat", "6808d327acc6a5d9335acf4647ad64b2285490dcab053a32509caacb7fbf0303"),
    )


def _semeion(k: int, targets: int) -> Card:
    return Card(
        name=f"semeion_{k}",
        title=f"Semeion {k}",
        family="semeion",
        source=page("178/semeion+handwritten+digit"),
        licence=CC_BY,
        target=f"digit {k}",
        recipe="all rows",
        rows=1593,
        targets=targets,
        features=256,
        fingerprint=FINGERPRINTS[f"semeion_{k}"],
        read=partial(images.semeion, digit=k),
        raw=raw(
            "semeion/semeion.data",
            "7c74222dd9beb6a5b30c7b41104e7486cabc274e013689db1cd62b1ca56d0dd4",
            "178/semeion+handwritten+digit",
            "semeion/semeion.data",
        ),
        notes=(
            "The sha256 is that of a copy that writes 0 and 1; UCI's copy writes 0.0000 and 1.0000.",
            "About 80 persons wrote every digit twice; the file does not say who wrote which row.",
        ),
    )


def _digits(k: int, targets: int) -> Card:
    return Card(
        name=f"digits_{k}",
        title=f"Digits {k}",
        family="digits",
        source=page("80/optical+recognition+of+handwritten+digits"),
        licence=CC_BY,
        target=f"digit {k}",
        recipe="all rows, from scikit-learn",
        rows=1797,
        targets=targets,
        features=64,
        fingerprint=FINGERPRINTS[f"digits_{k}"],
        read=partial(images.digits, digit=k),
        notes=("Needs no download: a substitute for Concordia. 43 persons wrote it; who wrote which row is unknown.",),
    )


CONCORDIA = tuple(_concordia(k) for k in range(10))
USPS = tuple(map(_usps, range(10), (1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821)))
SEMEION = tuple(map(_semeion, range(10), (161, 162, 159, 159, 161, 159, 161, 158, 155, 158)))
DIGITS = tuple(map(_digits, range(10), (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)))
