"""The most biased words on a map: t-SNE (van der Maaten and Hinton 2008) of their vectors, in two dimensions.

A map shows which words lie together; distances between clusters, and their sizes, mean nothing in it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.measures.geometry import tests
from unmask.measures.geometry.contrast import Contrast
from unmask.measures.geometry.tests import Sizes

PERPLEXITY = 30


def drawn(matrix: NDArray[np.floating], gender: Contrast, sizes: Sizes, *, seed: int) -> NDArray[np.float64]:
    """The two coordinates of every word; NaN for those that are not on the map."""
    from sklearn.manifold import TSNE

    places, _ = tests.sides(gender, sizes.clustered)
    found = np.full((matrix.shape[0], 2), np.nan)
    perplexity = min(PERPLEXITY, (places.size - 1) / 3)
    found[places] = TSNE(2, perplexity=perplexity, random_state=seed, init="pca").fit_transform(matrix[places])
    return found
