"""Six tools that look things up in a repository, which is read statically and never written.

Source: RepoClassBench, table 1 and appendix D.
"""
