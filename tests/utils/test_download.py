"""What model code asks of `utils.download` beside files."""

from vitrify.utils import download


def test_the_first_endpoint_of_each_host():
    given = ["127.0.0.1:1", "127.0.0.1:2", "10.0.0.1:1"]
    assert download._get_unique_endpoints(given) == {"127.0.0.1:1", "10.0.0.1:1"}
    assert download._get_unique_endpoints([]) == set()


def test_addresses_of_the_web():
    assert download.is_url("https://example.org/a") and not download.is_url("ftp://a") and not download.is_url("a/b")
