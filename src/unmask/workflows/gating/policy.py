"""A policy: what is allowed of which figure. Read from TOML, and every slip in it is named."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import ConfigDict, Field, ValidationError, model_validator

from unmask.errors import UnmaskError, check_choice
from unmask.results.record import Protocol, Record

Judge = Literal["interval", "surely", "estimate"]
Value = Literal["estimate", "effect_size"]
CHOICES = {"judge": get_args(Judge), "value": get_args(Value), "protocol": get_args(Protocol)}
LIMITS = ("at_most", "at_least", "magnitude_at_most", "worse_by_at_most")
KEYS = ("baseline", "rule")


class Rule(Record):
    """What is allowed of a figure, in every measurement that fits."""

    model_config = ConfigDict(strict=True, frozen=True)

    name: str = ""
    measure: str | None = None
    """None, as for the next four: any."""
    language: str | None = None
    corpus: str | None = None
    protocol: Protocol | None = None
    terms: str | None = None
    """Sentiment: which words were exchanged."""
    test: str | None = None
    group: str | None = None
    value: Value = "estimate"
    """Of a test: its estimate or its effect size. A group has its mean."""
    at_most: float | None = None
    at_least: float | None = None
    magnitude_at_most: float | None = Field(None, ge=0)
    """How far from no bias, on either side."""
    worse_by_at_most: float | None = None
    """How much further from no bias than the baseline; negative: so much nearer at least."""
    judge: Judge = "interval"
    fewest_items: int = Field(1, ge=1)

    @model_validator(mode="after")
    def _is_one_question(self) -> Self:
        if (self.test is None) == (self.group is None):
            raise ValueError("give test = … or group = …, and not both")
        if self.group is not None and "value" in self.model_fields_set:
            raise ValueError("value is for a test; a group has its mean alone")
        given = [limit for limit in LIMITS if getattr(self, limit) is not None]
        if not given:
            raise ValueError(f"nothing says what is allowed; give one of {', '.join(LIMITS)}")
        if len(given) > 1 and given != ["at_most", "at_least"]:
            raise ValueError(f"{given[0]} and {given[1]} do not go together; write two rules")
        if self.at_most is not None and self.at_least is not None and self.at_least > self.at_most:
            raise ValueError(f"at_least = {self.at_least:g} is above at_most = {self.at_most:g}; nothing can keep that")
        return self

    @property
    def figure(self) -> str:
        """What is judged, in words."""
        return self.group or f"{self.test}{', effect size' if self.value == 'effect_size' else ''}"


@dataclass(frozen=True)
class Policy:
    """Rules, and the audit that some of them look back to."""

    name: str
    rules: tuple[Rule, ...]
    baseline: Path | None = None


def read(path: Path) -> Policy:
    """Read a policy; its baseline is relative to the file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnmaskError(
            f"there is no policy {path}; write one with unmask gate DIR --write-policy {path.name}"
        ) from None
    except OSError as error:
        raise UnmaskError(f"the policy {path} cannot be read ({error.strerror}); give a TOML file") from None
    except ValueError as error:  # not TOML, or not UTF-8
        raise UnmaskError(f"the policy {path} is not TOML: {error}; mend it there") from None
    return parsed(content, str(path), path.parent)


def parsed(content: Mapping[str, Any], name: str = "the policy", folder: Path = Path()) -> Policy:
    """Make a policy of plain data: `rule`, a list of tables, and perhaps `baseline`, relative to the folder."""
    try:
        for key in content:
            check_choice(key, KEYS, "key")
        rules, baseline = content.get("rule", []), content.get("baseline")
        if not isinstance(rules, list) or not all(isinstance(rule, Mapping) for rule in rules):
            raise UnmaskError("a rule begins with [[rule]], in two pairs of brackets")
        if not rules:
            raise UnmaskError("it has no rule; begin one with [[rule]]")
        if not isinstance(baseline, str | None):
            raise UnmaskError(f"baseline = {baseline!r} is not the name of a folder; give it in quotes")
    except UnmaskError as error:
        raise UnmaskError(f"{name}: {error}") from None
    made = tuple(_rule(rule, f"{name}, rule {at}") for at, rule in enumerate(rules, start=1))
    return Policy(name, made, None if baseline is None else folder / baseline)


def _rule(content: Mapping[str, Any], where: str) -> Rule:
    try:
        for key, value in content.items():
            check_choice(key, Rule.model_fields, "key")
            if key in CHOICES and isinstance(value, str):
                check_choice(value, CHOICES[key], key)
        return Rule.model_validate(dict(content))
    except UnmaskError as error:
        raise UnmaskError(f"{where}: {error}") from None
    except ValidationError as error:
        slip = error.errors(include_url=False)[0]
        if not slip["loc"]:
            raise UnmaskError(f"{where}: {slip['msg'].removeprefix('Value error, ')}") from None
        told = slip["msg"].replace("Input", "it")
        raise UnmaskError(f"{where}: {slip['loc'][0]} = {slip['input']!r}; {told}") from None
