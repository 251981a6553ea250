"""verify.py as a function, for its tests."""
import contextlib
import io

import verify


def run(*arguments):
    """(exit code, standard output, standard error) of verify.py."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = verify.main([str(a) for a in arguments])
    return code, out.getvalue(), err.getvalue()
