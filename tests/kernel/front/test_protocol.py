"""The protocol suite that kernels of all languages are held to."""

from __future__ import annotations

from typing import Any, ClassVar

import jupyter_kernel_test as suite


class TestKernel(suite.KernelTests):
    """All of the suite's samples, for Python."""

    kernel_name = "exploracoder"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples: ClassVar[list[dict[str, Any]]] = [
        {"text": "imp", "matches": {"import"}},
        {"text": "zi", "matches": {"zip"}},
    ]
    complete_code_samples: ClassVar[list[str]] = [
        "1",
        "print('hello, world')",
        "def f(x):\n  return x*2\n\n\n",
    ]
    incomplete_code_samples: ClassVar[list[str]] = [
        "print('''hello",
        "def f(x):\n  x*2",
        "for i in range(3):",
    ]
    invalid_code_samples: ClassVar[list[str]] = ["import = 7q", "1 +* 2", "}"]
    code_page_something = "zip?"
    code_generate_error = "raise ValueError('no')"
    code_execute_result: ClassVar[list[dict[str, str]]] = [
        {"code": "1+2+3", "result": "6"},
        {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"},
    ]
    code_display_data: ClassVar[list[dict[str, str]]] = [
        {
            "code": "from IPython.display import HTML, display; display(HTML('<b>x</b>'))",
            "mime": "text/html",
        },
        {
            "code": "from IPython.display import Math, display; display(Math('a^2'))",
            "mime": "text/latex",
        },
    ]
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"


class TestWelcome(suite.IopubWelcomeTests):
    """A subscriber is told when it misses nothing any more."""

    kernel_name = "exploracoder"
    support_iopub_welcome = True
