"""One file a measure, in two halves: `score` (probe + model → items) and `analyse` (items → `Measurement`)."""
