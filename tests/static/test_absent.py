"""Names of Paddle's static mode that have no meaning here exist, and say so."""

import pytest

from vitrify import static
from vitrify.core.errors import UnsupportedError
from vitrify.static import absent


@pytest.mark.parametrize("name", absent.__all__)
def test_what_there_is_none_of_says_so(name):
    function = getattr(static, name, None) or getattr(static.nn, name)
    with pytest.raises(UnsupportedError, match=f"{name} .* (none|no support)") as caught:
        function(None, size=1)
    assert caught.value.hint
