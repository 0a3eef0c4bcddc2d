"""Tests, effect sizes, intervals and corrections; every one has a defined answer for degenerate input.

The items of a template corpus are not independent: 900 differences come from 20 professions × 9 pairs of person words.
What would change with another sample of professions, or of person words, is what an interval has to cover, so both are
treated as random here (`crossed`); a test over the 900 differences (`paired`) is given beside it because papers do.
"""
