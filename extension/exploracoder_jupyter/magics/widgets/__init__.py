"""An exploration as ipywidgets, in front ends that draw them.

These modules import ipywidgets, so import them only once widgets are wanted. Every button runs a
sub-command; everything shown is escaped or sanitised.
"""
