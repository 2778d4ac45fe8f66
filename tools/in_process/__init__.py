"""
Run programs that are Python functions one after the other in one process, each as if it
had a process of its own.

`programs` says which programs there are, `isolation` what each finds as at the start of
a process, `runner` keeps the process in which they run, and `pipelines` is the part of
a shell that connects them.
"""
