"""One training loop, for masked language models and classifiers. Nothing here knows of gender.

A `Task` turns examples into features and outputs into metrics; the loop trains any task, keeps the best weights by the
validation metric, and resumes from a checkpoint as if it had never stopped.
"""
