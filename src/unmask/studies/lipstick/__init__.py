"""Lipstick on a pig: is the bias gone after debiasing, or only hidden? Word vectors, and words in sentences.

H. Gonen and Y. Goldberg (2019). Lipstick on a Pig: Debiasing Methods Cover up Systematic Gender Biases in Word
Embeddings But do not Remove Them. NAACL-HLT, 609–614. H. J. Bhang, H. S. Kang and K. W. Nam. Lipstick on a Pig
"Again": Analysis on Contextualised Embeddings.
"""
