"""The scripted model and the command line, as the tests of the method have them."""

from __future__ import annotations

from exploration.conftest import command, library, serve, shelf, surroundings

__all__ = ["command", "library", "serve", "shelf", "surroundings"]
