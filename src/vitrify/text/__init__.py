"""`paddle.text`: tags of sequences, and data sets of text from local files. Source: paddle.text."""

from . import datasets
from .datasets import WMT14, WMT16, Imdb, Imikolov, Movielens, UCIHousing
from .viterbi import ViterbiDecoder, viterbi_decode

__all__ = [
    "WMT14",
    "WMT16",
    "Imdb",
    "Imikolov",
    "Movielens",
    "UCIHousing",
    "ViterbiDecoder",
    "datasets",
    "viterbi_decode",
]
