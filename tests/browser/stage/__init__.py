"""A stage for browser tests: JupyterLab with the extension, a scripted model, doors to shut.

``PYTHONPATH=tests python -m browser.stage COMMAND…`` starts all of it, runs the command with
``TARGET_URL`` (JupyterLab), ``STAGE_URL`` (the control door of `control`), ``STAGE_ROOT`` (the
server's root folder) and ``STAGE_TOKEN`` in its environment, ends all of it, and exits as the
command did.
"""
