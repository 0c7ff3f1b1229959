"""Cards of the paper's small datasets of patients."""

from dataclasses import replace
from functools import partial

from . import sheets, tables
from .card import Card, RawFile
from .uci import CC_BY, page, raw

__all__ = [
    "BIOMED",
    "BREAST_CANCER",
    "CARDIOTOCOGRAPHY",
    "CARDIOTOCOGRAPHY_21",
    "COLPOSCOPY",
    "CRYOTHERAPY",
    "DIABETIC_RETINOPATHY",
    "HEART_CLEVELAND",
    "HEART_STATLOG",
    "SURVIVAL",
]

BIOMED = Card(
    name="biomed",
    title="Biomed",
    family="small",
    source="https://lib.stat.cmu.edu/datasets/",
    licence="none stated (StatLib, L. Cox 1982)",
    target="normals",
    recipe="15 of 209 rows with NA dropped; features are age and m1..m4",
    rows=194,
    targets=127,
    features=5,
    fingerprint="ef9b777627ed768ea544e8fd7b20f1ca4f64c92e5ba7b8bc55a76da6353b300d",
    read=tables.biomed,
    raw=RawFile(
        "biomed/biomed.data",
        "b13de1562ac8e59a28274af2a565fe6e183f603be225414978d9a91ee5e03696",
        ("https://lib.stat.cmu.edu/datasets/biomed.data",),
    ),
    groups="person",
    notes=("Some persons have several visits: a random split puts one person into both training and test set.",),
)

BREAST_CANCER = Card(
    name="breast_cancer",
    title="Breast Cancer",
    family="small",
    source=page("15/breast+cancer+wisconsin+original"),
    licence=CC_BY,
    target="class 4 (malignant)",
    recipe="id dropped; 16 missing bare_nuclei are -1",
    rows=699,
    targets=241,
    features=9,
    fingerprint="0c468c0277af3963959c0190eac6f6293c9aebc4e241ad94dc34322bab8cba26",
    read=tables.breast_cancer,
    raw=raw(
        "breast_cancer/breast-cancer-wisconsin.data",
        "402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
        "15/breast+cancer+wisconsin+original",
        "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
    ),
    notes=("236 rows repeat an earlier row. Other copies have 683 rows, or take benign as the target.",),
)

CARDIOTOCOGRAPHY = Card(
    name="cardiotocography",
    title="Cardiotocography",
    family="small",
    source=page("193/cardiotocography"),
    licence=CC_BY,
    target="NSP = 3 (pathologic)",
    recipe='sheet "Raw Data" without blank and summary rows; 21 signal features and CLASS',
    rows=2126,
    targets=176,
    features=22,
    fingerprint="fe755544b4d33ad92eacccbe7b4f7a7867b416bf031d1a6a72fd93c9e9a7b2f0",
    read=partial(sheets.cardiotocography, with_class=True),
    raw=raw(
        "cardiotocography/CTG.xls",
        "ac60219a4e87c6c07876042a91428dee5e2565acbaecc9f1035ddc9d27e5af82",
        "193/cardiotocography",
        "00193/CTG.xls",
    ),
    groups="recording",
    notes=(
        "The feature CLASS reveals the label: 175 of the 176 targets have CLASS 8 or 9, and only one other row has. "
        "cardiotocography_21 is the task without this column.",
        "The 2126 rows come from 352 recordings: a random split puts one recording into both training and test set.",
    ),
)

CARDIOTOCOGRAPHY_21 = replace(
    CARDIOTOCOGRAPHY,
    name="cardiotocography_21",
    title="Cardiotocography (21 features)",
    family="extra",
    recipe='sheet "Raw Data" without blank and summary rows; 21 signal features, CLASS left out',
    features=21,
    fingerprint="cf54ad8ae7c401dea84e2bd25fb682f67243ff171d502ef668d96b7058f0b94e",
    read=partial(sheets.cardiotocography, with_class=False),
    notes=CARDIOTOCOGRAPHY.notes[1:],
)

COLPOSCOPY = Card(
    name="colposcopy",
    title="Colposcopy",
    family="small",
    source=page("384/quality+assessment+of+digital+colposcopies"),
    licence=CC_BY,
    target="consensus = 1 (good)",
    recipe="hinselmann.csv; six experts:: columns dropped",
    rows=97,
    targets=82,
    features=62,
    fingerprint="4bbcc9963c8941ef72d6ae307beeecaec720d16505abd30a7d144d60372b1def",
    read=tables.colposcopy,
    raw=raw(
        "colposcopy/hinselmann.csv",
        "5f685351dbe83646ee94bddbf74b2d740921a3099b2f43e75e59c8ac46063463",
        "384/quality+assessment+of+digital+colposcopies",
        "00384/Quality%20Assessment%20-%20Digital%20Colposcopy.zip",
    ),
    notes=("There are only 15 outliers: a test set of 20 % holds 3 of them.",),
)

CRYOTHERAPY = Card(
    name="cryotherapy",
    title="Cryotherapy",
    family="small",
    source=page("429/cryotherapy+dataset"),
    licence=CC_BY,
    target="Result_of_Treatment = 1",
    recipe="all rows",
    rows=90,
    targets=48,
    features=6,
    fingerprint="bb767b34a1fec6c1a3ca1753caaed8c9f4cb62812e2852bda705947a37193b55",
    read=sheets.cryotherapy,
    raw=raw(
        "cryotherapy/Cryotherapy.xlsx",
        "22ffceefee736d96097215187a3688c3fb50887156eebd6d2450dc74f80596bd",
        "429/cryotherapy+dataset",
        "00429/Cryotherapy.xlsx",
    ),
)

DIABETIC_RETINOPATHY = Card(
    name="diabetic_retinopathy",
    title="Diabetic Retinopathy",
    family="small",
    source=page("329/diabetic+retinopathy+debrecen"),
    licence=CC_BY,
    target="class 0 (no signs)",
    recipe="all rows",
    rows=1151,
    targets=540,
    features=19,
    fingerprint="df9219be0a66955399c42ff4bd3cefed057fa9d0116ef6ee09a69a675517bde1",
    read=tables.diabetic_retinopathy,
    raw=raw(
        "diabetic_retinopathy/messidor_features.arff",
        "f26adef0a94920205da4eedefbb6ccd730fd4b52a18ac7c01457cc7c1382c0c4",
        "329/diabetic+retinopathy+debrecen",
        "00329/messidor_features.arff",
    ),
)

HEART_CLEVELAND = Card(
    name="heart_cleveland",
    title="Heart Cleveland",
    family="small",
    source=page("45/heart+disease"),
    licence=CC_BY,
    target="num = 0 (absent)",
    recipe="6 of 303 rows with ? dropped (ca 4, thal 2)",
    rows=297,
    targets=160,
    features=13,
    fingerprint="eb7f02c5dbca6dc34a9f4300df261325025f143d627adfae864c9469658aaca1",
    read=tables.heart_cleveland,
    raw=raw(
        "heart_cleveland/processed.cleveland.data",
        "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",
        "45/heart+disease",
        "heart-disease/processed.cleveland.data",
    ),
)

HEART_STATLOG = Card(
    name="heart_statlog",
    title="Heart Statlog",
    family="small",
    source=page("145/statlog+heart"),
    licence=CC_BY,
    target="class 2 (present)",
    recipe="all rows",
    rows=270,
    targets=120,
    features=13,
    fingerprint="430d95d0a8cde0bc860264d53c616b9479e947b8a17a8181e45329b4061e4f5b",
    read=tables.heart_statlog,
    raw=raw(
        "heart_statlog/heart.dat",
        "f5f3b4204c285bafadd85cb735f38b47689f2be7047feb172dcbeab648110bf9",
        "145/statlog+heart",
        "statlog/heart/heart.dat",
    ),
    notes=(
        "All 270 rows are also in heart_cleveland, with the classes swapped: results on the two are not independent.",
    ),
)

SURVIVAL = Card(
    name="survival",
    title="Survival",
    family="small",
    source=page("43/haberman+s+survival"),
    licence=CC_BY,
    target="class 1 (5 years or longer)",
    recipe="all rows",
    rows=306,
    targets=225,
    features=3,
    fingerprint="87bc3f19d9e645c6f101cf9001c33309faaa3aa899c1bb8a4cb40a27d4db308b",
    read=tables.survival,
    raw=raw(
        "survival/haberman.data",
        "b4b7a32586a5668f9f4d6dc8be9d1bc8cd4822523affb1f6b5bfc350681ef3e2",
        "43/haberman+s+survival",
        "haberman/haberman.data",
    ),
    notes=("23 rows are repeats. 6 feature vectors occur with both labels.",),
)
