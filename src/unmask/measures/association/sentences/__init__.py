"""Association in sentences of a corpus: which are used, how they agree with templates, and how a report shows them."""
