"""`paddle.text.datasets`: published data sets from local files; nothing is downloaded. Source: paddle.text.datasets."""

from .housing import UCIHousing
from .language import Imikolov
from .movielens import Movielens
from .reviews import Imdb
from .translation import WMT14, WMT16

__all__ = ["WMT14", "WMT16", "Imdb", "Imikolov", "Movielens", "UCIHousing"]
