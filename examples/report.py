"""The reports of docs/report.md and docs/dirty.md: python -m examples.report (needs Chromium, playwright, plotnine)."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import oneclass

FOLDER = Path(__file__).parents[1] / "docs" / "report"

#: Window sizes of the pictures.
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1100, "height": 1700}},
    "dark": {"viewport": {"width": 1100, "height": 1700}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 1700}},
}


def orders(n: int, first_day: str, seed: int) -> pd.DataFrame:
    """Simulated orders of three months."""
    rng = np.random.default_rng(seed)
    items = rng.integers(1, 12, n)
    country = rng.choice(["Austria", "Germany", "Switzerland", "Italy"], n, p=[0.4, 0.35, 0.15, 0.1])
    minutes = np.sort(rng.integers(0, 90 * 24 * 60, n))
    german = np.where(rng.random(n) < 0.7, "invoice", "card")
    return pd.DataFrame(
        {
            "order": [f"A{seed}{i:05d}" for i in range(n)],
            "ordered": pd.Timestamp(first_day) + pd.to_timedelta(minutes, unit="min"),
            "items": items,
            "weight in kg": (items * 0.35 * rng.lognormal(0, 0.15, n)).round(2),
            "price": (items * 12 * rng.lognormal(0, 0.2, n)).round(2),
            "payment": np.where(country == "Germany", german, rng.choice(["card", "transfer"], n, p=[0.8, 0.2])),
            "country": country,
            "gift": rng.random(n) < 0.1,
            "delivery days": np.where(country == "Italy", 4, 2) + rng.poisson(1, n),
        }
    )


def spoilt_orders() -> oneclass.Report[Any]:
    """Report on 5,000 orders with mistakes of four kinds, by a model that was fitted to 2,000 orders before."""
    new, rng = orders(5000, "2024-04-01", 1), np.random.default_rng(5)
    new.loc[3000:3019, "country"] = "XX"
    for column, count, factor in (("weight in kg", 30, 10), ("price", 15, 0.01), ("items", 12, np.nan)):
        new.loc[rng.choice(len(new), count, replace=False), column] *= factor
    model = oneclass.TableDetector(oneclass.VAAKELM(delta=0.01)).fit(orders(2000, "2024-01-01", 0))
    return oneclass.report(model, new, title="Orders from April to June")


def photograph(page: Path, folder: Path, looks: dict[str, dict[str, Any]], place: str = "") -> None:
    """Take a picture of a page, from a place such as `#rows`, in each window, by name."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, look in looks.items():
            shown = browser.new_page(reduced_motion="reduce", **look)
            shown.goto(page.as_uri() + place)
            taken = Image.open(io.BytesIO(shown.screenshot()))
            taken.quantize(256).save(folder / f"{name}.png", optimize=True)


def screened_diamonds() -> oneclass.Report[Any]:
    """Report on the suspicious cells of the diamonds of plotnine."""
    from plotnine.data import diamonds

    found = oneclass.screen(diamonds, top=40)
    return oneclass.report(found, diamonds, title="Suspicious cells in a table of diamonds")


def main() -> None:
    """Write the pages and take pictures of them."""
    FOLDER.mkdir(exist_ok=True)
    page = FOLDER / "report.html"
    screened = {"diamonds": {"viewport": {"width": 1100, "height": 720}}}
    for made, looks, place in ((spoilt_orders, LOOKS, ""), (screened_diamonds, screened, "#rows")):
        made().save(page)
        photograph(page, FOLDER, looks, place)
    page.unlink()


if __name__ == "__main__":
    main()
