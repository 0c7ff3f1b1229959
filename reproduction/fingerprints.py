"""Fingerprints of the authors' splits: sha256 of the values, not of the file."""

__all__ = ["SPLITS"]

SPLITS = {
    "biomed": "5d3f39acefcaace8fb677d337a2c34b3ef2799f5480da1ac50af4579b70cac0c",
    "concordia_0": "24c39ed2988e24b142513d491ae9afb6befd7c90a9ca29b0244ba929166ed909",
    "concordia_1": "d6c6abd8940ca73c3f95445aea88df78457c170ab0cbba3e250374b3b756d0e2",
    "diabetic_retinopathy": "1c1c94ee73d6c196e1328707d6e0a7e722df4e073145b0f09ab7535a768d9b6f",
    "ecoli": "75a210689c1f8480cb7f0e5630715cf5084beebb4ee8a0b1fc12760952b9eb0f",
    "imports": "2556c210e98fbec2342a94d65d7e4cab7994c81941bc39fe8a857e31c5435379",
    "vowel": "1dc5d2541a40529d92a22be1794e1abde0bbccc2b3ef1693ed322efe6122ee60",
    "dkrlvoc_biomed": "1490ef846603962d611ee77f88b50e5770b00dfb461686445134992adf8957ec",
    "dkrlvoc_breast_cancer": "074b2a388c7eda5fd31e6880be20ab33e974d13c6074e775fdcd4048121f346c",
    "dkrlvoc_colposcopy": "c3e77c1d324777e663867a3788e42d22718616bf5e63b483fc6336780ee07574",
    "dkrlvoc_concordia_5": "ce1956e0f6db84337b44194a5462c6f92c37f0c087218338bded6b56ac30ba19",
    "dkrlvoc_cryotherapy": "122e7c6889110dbc413d439ccbabcf32e0456602d8beaa61fef11735d6b96353",
    "dkrlvoc_glass_building": "aaeb7126e6844c9a2a97125e006bf9ee6e4156993e420a59f642320358f7ec6c",
    "dkrlvoc_ionosphere": "7b9729befcfa357d10925a6150c822dd5b87186b6e59aea3dcfbe80070306ea5",
    "dkrlvoc_iris": "8891decea46971863822fe06090b0743d6edcd8778c33613eb114fb10320f96f",
    "dkrlvoc_spect_heart": "250c98668dbda8b69a541b9f41ece2e64a4a01645126fc4c989a887dc3e59b3b",
}
