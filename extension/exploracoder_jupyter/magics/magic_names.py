"""What the magics are called."""

NAME = "exploracoder"
TRY_NAME = "exploracoder_try"
