"""
How main fails where it is walked: when it is loaded, and when it runs.
"""


class MainError(ValueError):
    """Code of main that is none, or is damaged; the reason is one line."""

    def __init__(self, reason: str) -> None:
        """Names in a reason may come from damaged bytes."""
        shown = (c if c.isprintable() else ascii(c)[1:-1] for c in reason)
        super().__init__("".join(shown))


class MainFailure(Exception):
    """Something wrong that a run has found: the message of a check, of arithmetic."""


class Ended(Exception):
    """A kernel that ended with a status other than 0."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status
