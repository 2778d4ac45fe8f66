"""
The messages of xDSL's parser in the form of ours: what is expected, then what is there.

```text
'{' expected                    expected '{', but got 'attributes'
Expected shape type.            expected the type of elements, but got '>'
```
"""

import re

MAX_SHOWN = 40
"""Characters of a token that are shown."""

_SPECIFIC = {
    " in block definition": "expected an operation, '}' or the label of a block",
    "attribute expected": "expected an attribute",
    "block-id expected": "expected the label of a block, such as '^bb1'",
    "block argument expected": "expected an argument of a block",
    "bytes literal expected": "expected a string of bytes",
    "expect symbol name": "expected a symbol name, such as '@main'",
    "expect symbol visibility keyword": "expected 'private', 'public' or 'nested'",
    "function type signature expected": "expected the type of a function",
    "function type expected": "expected the type of a function",
    "identifier expected": "expected an identifier",
    "identifier or string literal expected": "expected an identifier or a string",
    "operand expected": "expected an operand, such as '%x'",
    "operation name expected": "expected the name of an operation",
    "result types not found": "expected the types of the results",
    "string literal expected": "expected a string",
    "successor expected": "expected a successor, such as '^bb1'",
    "type expected": "expected a type",
    "Expected argument or type": "expected an argument, such as '%x: i32', or a type",
    "Expected bare-id or string-literal here as part of attribute entry": (
        "expected the name of an attribute"
    ),
    "Expected either a float, integer, or complex literal": (
        "expected a number, '[' or '('"
    ),
    "Expected region": "expected a region, which starts with '{'",
    "Expected result SSA value": "expected the name of a result, such as '%0'",
    "Expected shape type": "expected the type of elements",
    "Expected ':'function type signature expected": "expected ':' and a type",
    "Expected suffix identifier after {first_char}": "expected a name after '@'",
    "End of file reached": "expected '\"' at the end of a string",
    "End of file reached before closing string literal": (
        "expected '\"' at the end of a string"
    ),
    "Invalid string literal": "expected a string that ends on its line",
    "SSA value used before assignment": "expected a value that is defined before",
}
"""Messages that name nothing, or in words that users do not know."""

_SHAPE = re.compile(r"Expected 'x' in shape delimiter, got \w+")
_CHARACTER = re.compile(r"Unexpected character: (.*)", re.DOTALL)
_TRAILING = re.compile(r"(?P<what>\S.*?) expected(?P<rest>$| (?:as|in|on|to) .*)")


def reworded(message: str, found: str | None) -> str:
    """
    A message in our form. `found` is what stands where something else is expected, the
    empty text at the end; None if the message is about something before.
    """
    message = re.sub(r"`([^`]*)`", r"'\1'", message).rstrip("!.")
    message = re.sub(r"'after\b", "' after", message)
    message = _SHAPE.sub("expected 'x' after a size", message)
    message = _CHARACTER.sub(r"unexpected character '\1'", message)
    if message in _SPECIFIC:
        message = _SPECIFIC[message]
    elif (match := _TRAILING.fullmatch(message)) is not None:
        message = f"expected {match['what']}{match['rest']}"
    elif re.match(r"[A-Z][a-z]", message):
        message = message[0].lower() + message[1:]
    if found is None or not message.startswith("expected "):
        return message
    if re.search(r"\b(got|found|but)\b", message):
        return message
    return f"{message}, but got {_shown(found)}"


def _shown(found: str) -> str:
    if not found:
        return "the end of the text"
    line = found.split("\n")[0]
    return f"'{line}'" if len(line) <= MAX_SHOWN else f"'{line[:MAX_SHOWN]}…'"
