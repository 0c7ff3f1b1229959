"""Download of one raw file: several addresses, retries, archives opened, nothing half-done kept."""

import io
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from zipfile import BadZipFile, ZipFile

from oneclass.datasets.card import RawFile
from oneclass.datasets.errors import DatasetError, need
from oneclass.datasets.lzw import unlzw

__all__ = ["cache_folder", "download"]

RETRIES = 2
TIMEOUT = 30.0


def cache_folder() -> Path:
    """The user's cache for this library."""
    return Path(need("pooch", "download data").os_cache("oneclass"))


def download(raw: RawFile, url: str, folder: Path, *, progress: bool) -> Path:
    """Fetch ``raw`` from ``url`` into ``folder``; raise a DatasetError that says what went wrong."""
    name = PurePosixPath(unquote(urlsplit(url).path)).name
    try:
        archive = _get(url, name, folder, progress=progress)
        content = _member(archive.read_bytes(), name, raw.name)
    except (OSError, ValueError, BadZipFile) as error:
        raise DatasetError(f"no answer of use ({type(error).__name__})") from error
    if content is None:
        raise DatasetError(f"the archive holds no {raw.name}")
    path = folder / raw.name
    path.write_bytes(content)
    return path


def _get(url: str, name: str, folder: Path, *, progress: bool) -> Path:
    pooch = need("pooch", "download data")
    shelf = pooch.create(path=folder, base_url="", registry={name: None}, urls={name: url}, retry_if_failed=RETRIES)
    bar = progress and find_spec("tqdm") is not None
    return Path(shelf.fetch(name, downloader=pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT)))


def _member(content: bytes, name: str, wanted: str) -> bytes | None:
    """The wanted file inside a file called ``name``: itself, packed by compress, or at any depth of zip archives."""
    base = PurePosixPath(name).name.lower()
    if base == wanted.lower():
        return content
    if base == f"{wanted.lower()}.z":
        return unlzw(content)
    if not base.endswith(".zip"):
        return None
    with ZipFile(io.BytesIO(content)) as archive:
        inside = (_member(archive.read(item), item, wanted) for item in archive.namelist())
        return next((found for found in inside if found is not None), None)
