"""Tests, effect sizes, intervals and corrections; each has a defined answer for degenerate input.

The items of a template corpus are not independent: 900 differences come from 20 professions × 9 pairs of person words.
An interval has to cover what would change with another sample of professions, or of person words, so both are treated
as random here (`jackknife`). A test over the 900 differences (`paired`) is given as well because papers report it.
"""
