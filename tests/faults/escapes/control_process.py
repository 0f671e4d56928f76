"""Runs code with nothing around it, for the control. The request comes on stdin, the result goes to stdout."""

import contextlib
import io
import json
import os
import sys
import tempfile


def main() -> None:
    answer = os.fdopen(os.dup(1), "w")
    request = json.load(sys.stdin)
    printed = io.StringIO()
    told: dict[str, object] = {"outcome": "ok", "reason": None, "message": None}
    names: dict[str, object] = {"__name__": "__main__", **request["values"]}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
        os.chdir(folder)
        try:
            for name, path in request["frames"].items():
                import polars

                names[name] = polars.read_ipc(path)
            exec(compile(request["code"], "<code>", "exec"), names)
        except BaseException as error:
            told |= {"outcome": "error", "reason": "exception", "message": f"{type(error).__name__}: {error}"}
            sys.excepthook(type(error), error, None)
        os.chdir("/")
    told |= {"value": names.get("result"), "output": printed.getvalue()}
    json.dump(told, answer, default=str)
    answer.flush()
    os._exit(0)


main()
