"""Six tools that look things up in a repository: read statically, indexed once, never written.

Source: RepoClassBench, table 1 and appendix D.
"""
