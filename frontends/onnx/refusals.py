"""
Operators of ONNX that are not supported, and why.
"""

SEQUENCES = "values of 'graph' are tensors, not sequences or optional ones"
STRINGS = "'graph' has no strings"
RANDOM = "numbers are not random: a program gives the same results in each run"

REFUSALS: dict[str, str] = {
    **dict.fromkeys(
        (
            "ConcatFromSequence",
            "Optional",
            "SequenceAt",
            "SequenceConstruct",
            "SequenceEmpty",
            "SequenceErase",
            "SequenceInsert",
            "SequenceLength",
            "SequenceMap",
            "SplitToSequence",
        ),
        SEQUENCES,
    ),
    **dict.fromkeys(
        ("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"), STRINGS
    ),
    **dict.fromkeys(
        (
            "Bernoulli",
            "Multinomial",
            "RandomNormal",
            "RandomNormalLike",
            "RandomUniform",
            "RandomUniformLike",
        ),
        RANDOM,
    ),
    "ImageDecoder": "files of images are decoded before a model sees them",
    "MaxRoiPool": "regions of interest are pooled by 'RoiAlign' only",
    "TfIdfVectorizer": "n-grams of text are counted before a model sees them",
}
"""The reason for each operator without a form in `graph`."""


def reason_of(kind: str) -> str:
    """Why there is no handler for an operator."""
    return REFUSALS.get(kind, "there is no such operator in 'graph' yet")
