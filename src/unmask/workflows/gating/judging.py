"""Put every rule of a policy to every measurement that it fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from unmask.errors import UnmaskError, quote
from unmask.measures.readable import unreadable
from unmask.results import AuditResult, Measurement
from unmask.rewriting.options import TERM_SETS
from unmask.workflows.gating.figures import Figure, figure_of, growth
from unmask.workflows.gating.judgements import Judgement
from unmask.workflows.gating.limits import allowed, judged_by
from unmask.workflows.gating.policy import Policy, Rule

OWN = ("custom", "captions", "own words")
"""The corpora of all who bring words of their own: of one name, but not the same."""


def judged(result: AuditResult, policy: Policy, baseline: AuditResult | None = None) -> list[Judgement]:
    """Judge an audit; `baseline` is what rules with `worse_by_at_most` look back to."""
    looks_back = [at for at, rule in enumerate(policy.rules, start=1) if rule.worse_by_at_most is not None]
    if looks_back and baseline is None:
        raise UnmaskError(
            f"{policy.name}, rule {looks_back[0]}: worse_by_at_most looks back to a baseline, and there is none; give"
            " --baseline DIR, or baseline = … in the policy"
        )
    if baseline is not None and not looks_back:
        raise UnmaskError(
            f"{policy.name}: no rule looks back to the baseline; write one with worse_by_at_most, or leave it out"
        )
    return [one for rule in policy.rules for one in _of_rule(rule, result, baseline)]


def _of_rule(rule: Rule, result: AuditResult, baseline: AuditResult | None) -> Iterator[Judgement]:
    fitting = [one for one in result.measurements if _fits(rule, one)]
    if not fitting:
        yield _untold(rule, _asked(rule), f"the audit has no such measurement, only {_all(result.measurements)}")
    if rule.measure is None and fitting:
        known = [name for one in fitting for name in _names(rule, one)]
        fitting = [one for one in fitting if figure_of(one, rule)]
        if not fitting:
            yield _untold(rule, _asked(rule), _no_such(rule, known))
    for one in fitting:
        figure = figure_of(one, rule)
        if figure is None:
            yield _untold(rule, where(one), _no_such(rule, _names(rule, one)))
        else:
            yield _judgement(rule, one, figure, result, baseline)


def _judgement(
    rule: Rule, one: Measurement, figure: Figure, result: AuditResult, baseline: AuditResult | None
) -> Judgement:
    limit = allowed(rule, figure.neutral)
    known = _untold(rule, where(one), "", limit.words).model_copy(
        update={"n": figure.n, "value": figure.value, "interval": figure.interval}
    )
    if why := unreadable(one, group=rule.group is not None):
        return known.model_copy(update={"why": why})
    if figure.n < rule.fewest_items:
        return known.model_copy(
            update={"why": f"it rests on {figure.n:,} items, fewer than fewest_items = {rule.fewest_items:,}"}
        )
    value, interval = figure.value, figure.interval
    if rule.worse_by_at_most is not None:
        assert baseline is not None
        then = _then(rule, one, result, baseline)
        if isinstance(then, str):
            return known.model_copy(update={"why": then})
        value, interval = growth(figure, then)
        known = known.model_copy(
            update={
                "baseline_value": then.value,
                "baseline_interval": then.interval,
                "worse_by": value,
                "worse_by_interval": interval,
            }
        )
    verdict, sure, why = judged_by(value, interval, limit, rule.judge)
    return known.model_copy(update={"verdict": verdict, "sure": sure, "why": why})


def _then(rule: Rule, one: Measurement, result: AuditResult, baseline: AuditResult) -> Figure | str:
    """The figure of the baseline; or why there is none that can be compared."""
    then = next((other for other in baseline.measurements if other.key == one.key), None)
    if then is None:
        return f"the baseline cannot be compared: it has {_all(baseline.measurements)}"
    recorded = any("items" in audit.configuration for audit in (result, baseline))  # its hash is of the scores
    if _own_words(one) and not recorded and one.data_hash != then.data_hash:
        return "the baseline cannot be compared: it was asked with other words or texts"
    if why := unreadable(then, group=rule.group is not None):
        return f"the baseline: {why}"
    figure = figure_of(then, rule)
    if figure is None:
        return f"the baseline: {_no_such(rule, _names(rule, then))}"
    if figure.n < rule.fewest_items:
        return f"the baseline rests on {figure.n:,} items, fewer than fewest_items = {rule.fewest_items:,}"
    return figure


def _own_words(one: Measurement) -> bool:
    """Whether it was asked with words or texts that its names do not tell from others."""
    return one.corpus in OWN or (one.variant != "" and one.variant not in TERM_SETS)


def where(one: Measurement) -> str:
    """A measurement in a few words; the sound protocol goes without saying."""
    terms = [one.variant] if one.variant else []
    protocol = [] if one.protocol == "sound" else [one.protocol]
    return ", ".join([one.name, one.language, one.corpus, *terms, *protocol])


def _fits(rule: Rule, one: Measurement) -> bool:
    asked = (rule.measure, rule.language, rule.corpus, rule.protocol, rule.terms)
    return all(wanted is None or wanted == got for wanted, got in zip(asked, one.key, strict=True))


def _names(rule: Rule, one: Measurement) -> list[str]:
    return list(one.tests if rule.group is None else one.groups)


def _asked(rule: Rule) -> str:
    asked = (rule.measure, rule.language, rule.corpus, rule.terms, rule.protocol)
    return ", ".join(part for part in asked if part is not None) or "any measure"


def _all(measurements: Sequence[Measurement]) -> str:
    return "; ".join(where(one) for one in measurements) or "none at all"


def _no_such(rule: Rule, known: Sequence[str]) -> str:
    kind, name = ("test", rule.test) if rule.group is None else ("group", rule.group)
    close = get_close_matches(str(name), known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there is {quote(dict.fromkeys(known)) or 'none'}"
    return f"there is no {kind} {name!r}; {hint}"


def _untold(rule: Rule, of: str, why: str, words: str | None = None) -> Judgement:
    return Judgement(
        rule=rule.name,
        where=of,
        figure=rule.figure,
        allowed=allowed(rule).words if words is None else words,
        verdict="cannot tell",
        why=why,
    )
