"""`paddle.vision.models`: image classifiers with Paddle's structure and parameter names."""

# ruff: noqa: F403
# `alexnet` and `googlenet` are functions here, as in Paddle, and hide the modules of the same names.

from .alexnet import *
from .densenet import *
from .googlenet import *
from .inceptionv3 import *
from .lenet import *
from .mobilenetv1 import *
from .mobilenetv2 import *
from .mobilenetv3 import *
from .resnet import *
from .shufflenetv2 import *
from .squeezenet import *
from .vgg import *
