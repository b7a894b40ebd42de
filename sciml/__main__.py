"""The command line: ``python -m sciml COMMAND``, one file a command in `sciml/commands`.

Exit status: 0 pass, 1 the claim fails or the accuracy asked for was not reached, 2 undecided, 3 invalid input or usage.
"""

import contextlib
import json
import sys
from collections.abc import Sequence

import jax

from sciml.commands import NAMES, Outcome, command


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    try:
        with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
            status, text, value = _dispatch(arguments)
    except ValueError as error:
        status, text, value = 3, None, {"error": str(error)}
        print(f"error: {error}", file=sys.stderr)
    if as_json:
        from sciml.report.run import finite

        print(json.dumps(finite(value), allow_nan=False))
    elif text is not None:
        print(text)
    return status


def _dispatch(arguments: list[str]) -> Outcome:
    if not arguments or arguments[0] in ("-h", "--help"):
        lines = ["usage: python -m sciml COMMAND ...", "", *(f"  {n:6} {command(n).__doc__}" for n in NAMES)]
        text = "\n".join([*lines, "", "python -m sciml COMMAND --help explains a command."])
        return (0 if arguments else 3), text, {}
    module = command(arguments[0])
    jax.config.update("jax_enable_x64", "--no-x64" not in arguments)
    return module.run(arguments[1:])


if __name__ == "__main__":
    sys.exit(main())
