"""The contract of every mitigation, built-in or plug-in: see `unmask.mitigations.method`."""

from __future__ import annotations

import pytest

from unmask.errors import UnmaskError
from unmask.mitigations.method import Method, find_method, list_methods, method_options


@pytest.fixture(params=list_methods())
def method(request: pytest.FixtureRequest) -> Method:
    """Each method."""
    return find_method(request.param)


def test_it_declares_what_users_see(method: Method) -> None:
    assert method.about
    assert method.citation


def test_every_option_has_a_default_and_a_help(method: Method) -> None:
    options = method_options(method, {}, "sound")
    for name, parameter in method.options.parameters().items():
        assert parameter.help, name
        assert not parameter.required, name
        assert getattr(options, name) == parameter.default


def test_options_mean_the_same_as_text_and_as_values(method: Method) -> None:
    for name, parameter in method.options.parameters().items():
        if parameter.type in (int, float) and not parameter.several and parameter.default is not None:
            value = parameter.default + 1 if parameter.type is int else parameter.default / 2
            assert method_options(method, {name: str(value)}, "sound") == method.options(**{name: value})


def test_an_unknown_option_is_refused(method: Method) -> None:
    with pytest.raises(UnmaskError, match="unheard"):
        method_options(method, {"unheard": "1"}, "sound")


def test_the_published_protocol_fixes_its_options(method: Method) -> None:
    if method.published is None:
        with pytest.raises(UnmaskError, match="published"):
            method_options(method, {}, "published")
    else:
        options = method_options(method, {}, "published")
        for name, value in method.published.items():
            assert getattr(options, name) == value
