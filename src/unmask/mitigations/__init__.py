"""Ways to make a model less biased.

A *mitigation* turns a model into another: by training on text in which people have changed gender, by training with a
loss of its own, or by a map that removes gender from the model's states. Each method is one file in `methods/`. The
rest of this package is what all methods share: the text they learn from, the folder they write, and the check that the
folder holds what was made. Measures, and a comparison, show whether it helped.
"""
