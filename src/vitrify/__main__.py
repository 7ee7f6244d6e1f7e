"""`python -m vitrify`: the command line."""

import sys

from .tools.command import main

if __name__ == "__main__":
    sys.exit(main())
