"""Cards of the paper's other small datasets."""

from . import images, tables
from .card import Card
from .uci import CC_BY, page, raw

__all__ = ["ECOLI", "IMPORTS", "SONAR", "VOWEL", "WAVEFORM", "WINE"]

ECOLI = Card(
    name="ecoli",
    title="Ecoli",
    family="small",
    source=page("39/ecoli"),
    licence=CC_BY,
    target="pp (periplasm)",
    recipe="protein name dropped",
    rows=336,
    targets=52,
    features=7,
    fingerprint="0b0b269f5df12a83a35087f3a65d81ce0ba987231931e6af37454d7d1e5566da",
    read=tables.ecoli,
    raw=raw(
        "ecoli/ecoli.data",
        "008bd8fbb1d8b34040c3c8c4e987cac2a7ebf116e008b140cc6441be5261ba1d",
        "39/ecoli",
        "ecoli/ecoli.data",
    ),
    notes=("lip and chg are constant in the target class, but not over all rows.",),
)

IMPORTS = Card(
    name="imports",
    title="Imports",
    family="small",
    source=page("10/automobile"),
    licence=CC_BY,
    target="symboling <= 0 (low risk)",
    recipe="46 of 205 rows with ? dropped; symboling dropped; ten word columns coded as integers",
    rows=159,
    targets=71,
    features=25,
    fingerprint="698441dc32bfe5b319e7b93857f31e4b9a20eb24f8e40ee5ac60512dcc70865e",
    read=tables.imports,
    raw=raw(
        "imports/imports-85.data",
        "125db8bd36a84801f7223faf54071d15f85f26c13a9a7aee63375ac46098fb7f",
        "10/automobile",
        "autos/imports-85.data",
    ),
    notes=(
        "engine_location is constant over all rows.",
        "Row 8 (counted from 0) has fuel_system 2bbl (5), as in the raw file; the authors' copy has idi (2).",
    ),
)

SONAR = Card(
    name="sonar",
    title="Sonar",
    family="small",
    source=page("151/connectionist+bench+sonar+mines+vs+rocks"),
    licence=CC_BY,
    target="R (rock)",
    recipe="all rows",
    rows=208,
    targets=97,
    features=60,
    fingerprint="d88658889c42be00d415acc411d2133976c6144df847d68c36895950eaf8b0fd",
    read=tables.sonar,
    raw=raw(
        "sonar/sonar.all-data",
        "e90434cdbf00fcf93ffa911fe447ae25606979658e60f1d32e155c3b5240234d",
        "151/connectionist+bench+sonar+mines+vs+rocks",
        "undocumented/connectionist-bench/sonar/sonar.all-data",
    ),
)

VOWEL = Card(
    name="vowel",
    title="Vowel",
    family="small",
    source=page("152/connectionist+bench+vowel+recognition+deterding+data"),
    licence=CC_BY,
    target="class 0 (hid)",
    recipe="462 of 990 rows (the test speakers) dropped; speaker and sex dropped",
    rows=528,
    targets=48,
    features=10,
    fingerprint="433848cf5f31a52b47646d324a18bce89ad193c5a80d49d4110aed273e146706",
    read=tables.vowel,
    raw=raw(
        "vowel/vowel-context.data",
        "2e95c7be6c5800583b16d15ad36fd21f9681030b69bf96aa6aeab6f4f2f0726d",
        "152/connectionist+bench+vowel+recognition+deterding+data",
        "undocumented/connectionist-bench/vowel/vowel-context.data",
    ),
    groups="speaker",
    notes=(
        "Every speaker says every vowel six times: a random split puts one speaker into both training and test set.",
        "The sha256 is that of a copy separated by commas; the original, separated by blanks, holds the same rows.",
    ),
)

WAVEFORM = Card(
    name="waveform",
    title="Waveform",
    family="small",
    source=page("107/waveform+database+generator+version+1"),
    licence=CC_BY,
    target="class 1",
    recipe="of 5000 rows, the first 300 of each class kept",
    rows=900,
    targets=300,
    features=21,
    fingerprint="9437daf7e8ddb64d7888c7812170de6bc97a98964ee20a9f7a860ab9e68dd5d2",
    read=tables.waveform,
    raw=raw(
        "waveform/waveform.data",
        "da332f3121943f586826f5d1b2cdd354548c59f71ddbf28c4d0c2eb623d7bfc3",
        "107/waveform+database+generator+version+1",
        "waveform/waveform.data.Z",
    ),
    notes=(
        "A substitute: the paper's 900 rows are not published. The counts agree; scores are comparable, but not equal "
        "to the digit. waveform_generator draws any number of new rows.",
    ),
)

WINE = Card(
    name="wine",
    title="Wine",
    family="small",
    source=page("109/wine"),
    licence=CC_BY,
    target="class 2 (label 1 in scikit-learn)",
    recipe="all rows, from scikit-learn",
    rows=178,
    targets=71,
    features=13,
    fingerprint="720cc605e838ef08d4c7df7f8fdd2c803e4d14ed4aa58b54c2fc5df9d59ca052",
    read=images.wine,
)
