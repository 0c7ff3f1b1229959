"""The report of docs/report.md and its pictures, which take Chromium and playwright: python -m examples.report."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import oneclass

FOLDER = Path(__file__).parents[1] / "docs" / "report"

#: Window sizes of the pictures.
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1100, "height": 1500}},
    "dark": {"viewport": {"width": 1100, "height": 1500}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 1500}},
}


def biopsies() -> oneclass.Report:
    """Report on biopsies, most of them benign, by a model that was fitted to other benign ones."""
    X, y = load_breast_cancer(as_frame=True, return_X_y=True)
    rng = np.random.default_rng(0)
    benign, malignant = (rng.permutation(np.flatnonzero(y == label)) for label in (1, 0))
    normal, new = X.iloc[benign[:257]], X.iloc[np.sort([*benign[257:], *malignant[:20]])]
    model = oneclass.TableDetector().fit(normal)
    return oneclass.report(model, new.rename_axis("biopsy"), title="New biopsies compared with 257 benign ones")


def photograph(page: Path, folder: Path, looks: dict[str, dict[str, Any]]) -> None:
    """Take a picture of a page in each window, by name."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, look in looks.items():
            shown = browser.new_page(**look)
            shown.goto(page.as_uri())
            taken = Image.open(io.BytesIO(shown.screenshot()))
            taken.quantize(256).save(folder / f"{name}.png", optimize=True)


def main() -> None:
    """Write the page and take three pictures of it."""
    FOLDER.mkdir(exist_ok=True)
    page = FOLDER / "report.html"
    biopsies().save(page)
    photograph(page, FOLDER, LOOKS)
    page.unlink()


if __name__ == "__main__":
    main()
