from graphtrain import deprecation


def test_it_warns_and_goes_through(caplog):
    @deprecation.renamed_to("new")
    def old(value, *, twice):
        """Doubles."""
        return 2 * value if twice else value

    assert old(3, twice=True) == 6
    assert (old.__name__, old.__doc__) == ("old", "Doubles.")
    assert "old is deprecated: use new" in caplog.text
