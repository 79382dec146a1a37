"""The names of the magics."""

NAME = "exploracoder"
TRY_NAME = "exploracoder_try"
