"""``python -m exploracoder_kernel.kernel -f CONNECTION_FILE``."""

import sys

from exploracoder_kernel.kernel.kernel_app import main

if __name__ == "__main__":
    sys.exit(main())
