"""Attacks that are run again and again: faults at system calls, damaged files, hostile files.

Each has a sample that runs with the slow tests, and a command that runs as many cases as asked
for: ``python -m tests.hardening.faults``, ``… .damage`` and ``… .fuzz``. Cases follow from a seed
and a number, and a failure is printed with the command that repeats it.
"""
