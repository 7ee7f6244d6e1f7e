"""The data set of the tests of loaders."""

from vitrify.io import Dataset


class Rows(Dataset):
    """Samples that a function makes of their index."""

    def __init__(self, make, size=5):
        self.make = make
        self.size = size

    def __getitem__(self, index):
        return self.make(index)

    def __len__(self):
        return self.size
