"""Words as data.

A *person word* is a phrase that says a person's gender (`she`, `my brother`); its *target* is the one word of it that
a model is asked for. An *attribute* is what the person is said to be or to feel: a profession with women's share of its
workforce, an emotion. A *template* is a sentence with a place for each. Each language has a folder of CSV files; a user
can pass files of her own in the same form.

Sources: person words and professions are those of BEC-Pro (Bartl, Nissim and Gatt 2020, CC BY 4.0), the shares those of
the US Bureau of Labor Statistics for 2019 that it cites; emotion words are those of the Equity Evaluation Corpus
(Kiritchenko and Mohammad 2018). The templates of both are in the files `templates…_published`; those that `sound` uses,
the German phrases without gender (`in`, `field`) and the corrections of German forms are our own.
"""

from unmask.lexicon.words import GENDERS, Attribute, Person, Template, attributes, last_place, persons, templates

__all__ = ["GENDERS", "Attribute", "Person", "Template", "attributes", "last_place", "persons", "templates"]
