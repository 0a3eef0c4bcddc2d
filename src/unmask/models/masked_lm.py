"""A `transformers` masked language model behind the `MaskedLM` interface.

The distinct inputs are run once each; the language-model head is applied only at the position that is read, not at
every position × vocabulary. That is done for any architecture by cutting the backbone's output to that position on
its way to the head, which works because heads treat positions alike; a model for which it does not hold is found out
at the start and run whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models import engine
from unmask.models.encoding import Input, Read, encode
from unmask.models.interfaces import Answers, Description, LiteralQuery, MaskQuery, SharedTokensQuery
from unmask.models.loaded import LoadedModel
from unmask.models.places import Tokenizer

Query = MaskQuery | LiteralQuery | SharedTokensQuery


class TransformersMaskedLM(LoadedModel):
    """A loaded model and its tokenizer, ready to be asked."""

    def __init__(self, model: Any, tokenizer: Tokenizer, **settings: Any) -> None:
        """Take a `PreTrainedModel` with a masked-LM head and its tokenizer; settings are those of `LoadedModel`."""
        super().__init__(model, tokenizer, **settings)
        self._encoded: tuple[tuple[Query, ...], list[list[Read]]] | None = None
        if tokenizer.mask_token_id is None:
            raise UnmaskError(f"{self.name} has no mask token; association needs a masked language model")
        self._head_alone = self._head_can_run_alone()

    def log_probability(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """The natural logarithm of the probability of each query's target."""
        return self.answer(queries).log_probability

    def answer(self, queries: Sequence[Query]) -> Answers:
        """How probable each query's target is, and whether it is the model's first choice."""
        answers = self._encode(queries)
        asked: dict[tuple[Input, int], dict[int, float]] = {}
        for reads in answers:
            for read in reads:
                asked.setdefault((read.input, read.position), {})[read.token] = float("nan")
        places = list(asked)
        chosen: dict[tuple[Input, int], int] = {}
        self._refuse_too_long(max((len(input.ids) for input, _ in places), default=0))
        self._refuse_strange_ids(max((max(*input.ids, *tokens) for (input, _), tokens in asked.items()), default=0))

        def forward(batch: list[int]) -> None:
            log_p, best = self._log_softmax([places[at] for at in batch], [list(asked[places[at]]) for at in batch])
            for at, values, token in zip(batch, log_p, best, strict=True):
                asked[places[at]] = dict(zip(asked[places[at]], values, strict=True))
                chosen[places[at]] = token

        lengths = [len(input.ids) for input, _ in places]
        engine.run(lengths, forward, budget=self.token_budget, progress=self.progress)
        scores = np.array(
            [sum(asked[read.input, read.position][read.token] for read in reads) for reads in answers],
            dtype=float,
        )
        self._refuse_not_finite(scores, queries)
        right = [all(chosen[read.input, read.position] == read.token for read in reads) for reads in answers]
        return Answers(scores, np.array(right, dtype=bool))

    def describe(self, queries: Sequence[Query]) -> Description:
        """How many distinct inputs the queries need, and the word pieces of each target."""
        answers = self._encode(queries)
        distinct = {read.input for reads in answers for read in reads}
        return Description(len(distinct), [len(reads) for reads in answers])

    def _encode(self, queries: Sequence[Query]) -> list[list[Read]]:
        """Encode, remembering the last questions: they are described and then asked."""
        asked = tuple(queries)
        if self._encoded is None or self._encoded[0] != asked:
            self._encoded = (asked, encode(self.tokenizer, asked))
        return self._encoded[1]

    def _log_softmax(
        self, places: list[tuple[Input, int]], tokens: list[list[int]]
    ) -> tuple[list[list[float]], list[int]]:
        """The log-probabilities of the tokens that are asked for at each place, and the likeliest token there."""
        logits = self._logits([input for input, _ in places], [position for _, position in places])
        norm = torch.logsumexp(logits, dim=-1)
        log_p = [(logits[row, wanted] - norm[row]).tolist() for row, wanted in enumerate(tokens)]
        return log_p, logits.argmax(dim=-1).tolist()

    @torch.inference_mode()
    def _logits(self, inputs: list[Input], positions: list[int], *, alone: bool | None = None) -> torch.Tensor:
        """The logits over the vocabulary at one position of each input; an input that is read twice is run once."""
        device = next(self.model.parameters()).device
        distinct = {input: row for row, input in enumerate(dict.fromkeys(inputs))}
        width = max(len(input.ids) for input in distinct)
        pad = self.tokenizer.pad_token_id or 0
        ids = torch.full((len(distinct), width), pad)
        attention = torch.zeros((len(distinct), width), dtype=torch.long)
        for input, row in distinct.items():
            ids[row, : len(input.ids)] = torch.tensor(input.ids)
            attention[row, : len(input.ids)] = torch.tensor(input.attention or (1,) * len(input.ids))
        rows = torch.tensor([distinct[input] for input in inputs], device=device)
        columns = torch.tensor(positions, device=device)

        def cut(_module: Any, _args: Any, output: Any) -> Any:
            hidden = output[0][rows, columns].unsqueeze(1)
            if isinstance(output, tuple):
                return (hidden, *output[1:])
            output.last_hidden_state = hidden
            return output

        alone = self._head_alone if alone is None else alone
        hook = self.model.base_model.register_forward_hook(cut) if alone else None
        try:
            logits = self.model(input_ids=ids.to(device), attention_mask=attention.to(device)).logits
        finally:
            if hook is not None:
                hook.remove()
        picked: torch.Tensor = logits[:, 0] if alone else logits[rows, columns]
        return picked.float()

    def _head_can_run_alone(self) -> bool:
        """Whether cutting to a position before the head gives the same logits as after it."""
        mask = self.tokenizer.mask_token_id
        ids = tuple(self.tokenizer("")["input_ids"])
        inputs = [Input((*ids, mask, mask)), Input((mask, *ids, mask, mask))]
        try:
            whole = self._logits(inputs, [1, 2], alone=False)
        except AttributeError:
            raise UnmaskError(f"{self.name} has no language-model head; load it with AutoModelForMaskedLM") from None
        if self.model.base_model is self.model:
            return False
        try:
            cut = self._logits(inputs, [1, 2], alone=True)
        except (RuntimeError, IndexError, TypeError, AttributeError):
            return False
        return cut.shape == whole.shape and bool(torch.allclose(cut, whole, atol=1e-4, rtol=1e-4, equal_nan=True))

    def _refuse_not_finite(self, scores: NDArray[np.float64], queries: Sequence[Query]) -> None:
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            query = queries[int(bad[0])]
            text = query.masked if isinstance(query, LiteralQuery) else query.text
            raise UnmaskError(
                f"{self.name} gives {scores[bad[0]]} for {text!r} ({bad.size} of {len(scores)} scores are not finite);"
                " check the weights, or use a wider dtype"
            )
