"""``python -m exploracoder_bench.api_use``."""

import sys

from exploracoder_bench.api_use.commands import main

if __name__ == "__main__":
    sys.exit(main())
