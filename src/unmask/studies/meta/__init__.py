"""Meta-evaluation: does a measure track bias that was put in on purpose?

Models are trained on data with a known amount of bias, from none of the planted pairings following the stereotype
(rate 0: all against it) to all of them (rate 1). A measure is worth using if its scores rank these models rightly. What
is planted, and how it is scored, is one file a measure, registered by its name; the rest is shared.

After M. Kaneko, D. Bollegala and N. Okazaki (2023), Comparing Intrinsic Gender Bias Evaluation Measures without using
Human Annotated Examples (EACL), and Anantaprayoon et al. (2024), section 3.
"""
