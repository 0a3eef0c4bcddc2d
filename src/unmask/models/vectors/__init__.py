"""Static word vectors: files of word2vec, GloVe and NumPy, gensim's objects, and plain Python.

Nothing is unpickled. Only the rows that are wanted are held in memory; what was odd about the rest is counted.
"""

from unmask.models.vectors.files import read
from unmask.models.vectors.objects import are_vectors, load_vectors
from unmask.models.vectors.rows import Keep
from unmask.models.vectors.table import FORMATS, Vectors
from unmask.models.vectors.writing import write

__all__ = ["FORMATS", "Keep", "Vectors", "are_vectors", "load_vectors", "read", "write"]
