"""Static word vectors: word2vec, GloVe and NumPy files, gensim's objects, and plain Python.

Nothing is unpickled. Only the rows that are wanted are held in memory; irregularities in the rest are counted.
"""

from unmask.models.word_vectors.files import read_vectors, write_vectors
from unmask.models.word_vectors.objects import are_vectors, load_vectors
from unmask.models.word_vectors.table import FORMATS, Keep, Vectors

__all__ = ["FORMATS", "Keep", "Vectors", "are_vectors", "load_vectors", "read_vectors", "write_vectors"]
