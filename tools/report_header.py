"""
The head of a report, as LLVM's tools write it.
"""

WIDTH = 79


def header(title: str) -> str:
    """Three lines with a title."""
    rule = f"==={'-' * (WIDTH - 6)}==="
    return f"{rule}\n{f'... {title} ...':^{WIDTH}}".rstrip() + f"\n{rule}\n"
