"""An exploration as ipywidgets, in front ends that draw them.

ipywidgets is imported with the modules in here, so they are imported when widgets are first wanted.
Whatever a button does is a sub-command; what is shown is escaped, or made harmless.
"""
