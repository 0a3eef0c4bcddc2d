"""Ways to make a model less biased.

A *mitigation* takes a model and gives another: by training on text whose people have changed gender, by training with
a loss of its own, or by a map that takes gender out of what the model computes. One file a method, in `methods/`; the
rest of this room is what all of them share: the text they learn from, the folder they leave, and the proof that the
folder holds what was made. Whether it helped is for measures to say, and for a comparison.
"""

from unmask.mitigations.job import MitigateOptions, run
from unmask.mitigations.registry import method_named, method_names

__all__ = ["MitigateOptions", "method_named", "method_names", "run"]
