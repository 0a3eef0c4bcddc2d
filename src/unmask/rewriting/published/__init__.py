"""The papers' own ways of rewriting, with their defects, for whoever has to reproduce a published number.

Two procedures, each with the word lists that its authors released, read from a folder that the user gives:

- `masking`: the film reviews of Jentzsch & Turan (2022), *Gender Bias in BERT*: fixed strings, replaced or taken out.
- `cds`: name-based Counterfactual Data Substitution of Hall Maudslay et al. (2019), as Bartl et al. (2020) applied it
  to GAP: word pairs, name pairs, and *his* and *her* by the tags of a part-of-speech tagger.

For anything but a reproduction, `unmask.rewrite` is the better tool.
"""
