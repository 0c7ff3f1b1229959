"""Download of one raw file: retries, archives, and bounds on what an archive may unpack to."""

import io
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from .card import RawFile
from .errors import DatasetError, need
from .lzw import unlzw

__all__ = ["cache_folder", "download", "unpacked"]

RETRIES = 2
TIMEOUT = 30.0

#: UCI publishes files, archives of files, and archives of archives: no archive is opened inside more than these.
DEPTH = 2
#: Bytes that a download may have, and that it may unpack to in all. The largest dataset here has 3 MB.
LARGEST = 64 * 2**20


def cache_folder() -> Path:
    """The user's cache folder for datasets."""
    return Path(need("pooch", "download data").os_cache("oneclass"))


def download(raw: RawFile, url: str, folder: Path, *, progress: bool) -> Path:
    """Fetch ``raw`` from ``url`` into ``folder``; raise a DatasetError that says what went wrong."""
    name = PurePosixPath(unquote(urlsplit(url).path)).name
    try:
        archive = _get(url, name, folder, progress=progress)
    except (OSError, ValueError) as error:
        raise DatasetError(f"no usable answer ({type(error).__name__})") from error
    try:
        content = unpacked(_whole(archive), name, raw.name)
    except Exception as error:  # each decoder fails on a damaged archive in its own way
        raise DatasetError(f"{name} cannot be unpacked ({type(error).__name__}: {error})") from error
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


def _whole(file: Path) -> bytes:
    if file.stat().st_size > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    return file.read_bytes()


def unpacked(content: bytes, name: str, wanted: str) -> bytes | None:
    """The wanted file in a file called ``name``: that file itself, packed by compress, or a member of an archive."""
    wanted = wanted.lower()
    left, files = LARGEST, [(_base(name), content)]
    for depth in range(DEPTH + 1):
        for name, content in files:
            if name == wanted:
                return content
            if name == f"{wanted}.z":
                return unlzw(content, most=left)
        archives = [content for name, content in files if name.endswith(".zip")]
        if archives and depth == DEPTH:
            raise ValueError(f"it holds more than {DEPTH} archives inside each other")
        files = []
        for each in archives:
            with ZipFile(io.BytesIO(each)) as archive:
                for item in archive.infolist():
                    base = _base(item.filename)
                    if base in (wanted, f"{wanted}.z") or base.endswith(".zip"):
                        files.append((base, _read(archive, item, left)))
                        left -= len(files[-1][1])
    return None


def _base(name: str) -> str:
    return PurePosixPath(name).name.lower()


def _read(archive: ZipFile, item: ZipInfo, most: int) -> bytes:
    """Content of a member, refused beyond ``most`` bytes; the size that the archive claims is not trusted."""
    if item.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        # Python unpacks these without a bound.
        raise ValueError("a member is compressed in another way than deflate")
    with archive.open(item) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"it unpacks to more than {LARGEST:,} bytes")
    return content
