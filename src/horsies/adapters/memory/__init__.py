"""The whole engine in one process's memory, for users' tests: no stub, the same contract."""
