"""The codebook of a released file as DDI-Codebook 2.5, the XML that data archives take in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from tacita import __version__
from tacita.data.description import Category, Described, Description

NAMESPACE = "ddi:codebook:2_5"
FILE = "F1"
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Signs that no XML file may hold."""
PERTURBED = "Values were exchanged for wrong ones to protect the respondents."
WITHHELD = "Counts below 10, and those that would tell them, are withheld."


def ddi_codebook(file: Description, title: str, *, notes: Iterable[str] = ()) -> str:
    """A released file as a DDI codebook: the file, its variables, categories and counts; `notes` say how it was
    protected."""
    root = ElementTree.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5", "xml:lang": "en"})
    document = _citation(_add(root, "docDscr"), f"Codebook of {title}")
    _add(_add(document, "prodStmt"), "software", "Tacita", version=__version__)
    study = _add(root, "stdyDscr")
    _citation(study, title)
    for note in notes:
        _add(study, "notes", note, type="disclosure control")
    text = _add(_add(root, "fileDscr", ID=FILE), "fileTxt")
    _add(text, "fileName", "data")
    dimensions = _add(text, "dimensns")
    _add(dimensions, "caseQnty", str(file.records))
    _add(dimensions, "varQnty", str(len(file.variables)))
    described = _add(root, "dataDscr")
    numbers = {variable.name: f"V{number}" for number, variable in enumerate(file.variables, start=1)}
    weight = numbers.get(file.weight or "")
    for variable in file.variables:
        _variable(described, variable, numbers[variable.name], weight)
    _add(described, "notes", WITHHELD)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _citation(parent: ElementTree.Element, title: str) -> ElementTree.Element:
    citation = _add(parent, "citation")
    _add(_add(citation, "titlStmt"), "titl", title)
    return citation


def _variable(parent: ElementTree.Element, variable: Described, number: str, weight: str | None) -> None:
    interval = "contin" if variable.scale == "numeric" else "discrete"
    weighted = {} if weight is None else {"wgt": "wgt"} if number == weight else {"wgt-var": weight}
    own = _add(parent, "var", ID=number, name=variable.name, files=FILE, intrvl=interval, **weighted)
    if variable.label:
        _add(own, "labl", variable.label)
    codes = [each for each in variable.categories if each.missing]
    if codes:
        invalid = _add(own, "invalrng")
        for code in codes:
            _add(invalid, "item", VALUE=code.value)
    for kind, count in (("vald", variable.valid), ("invd", variable.missing)):
        if count is not None:
            _add(own, "sumStat", str(count), type=kind)
    for kind, value in (("mean", variable.mean), ("stdev", variable.deviation)):
        if value is not None:
            _add(own, "sumStat", f"{value:.4g}", type=kind)
    for category in variable.categories:
        _category(own, category)
    _add(own, "varFormat", type="character" if variable.text else "numeric")
    if variable.perturbed:
        _add(own, "notes", PERTURBED)


def _category(parent: ElementTree.Element, category: Category) -> None:
    own = _add(parent, "catgry", **({"missing": "Y"} if category.missing else {}))
    _add(own, "catValu", category.value)
    if category.label:
        _add(own, "labl", category.label)
    if category.records is not None:
        _add(own, "catStat", str(category.records), type="freq")


def _add(parent: ElementTree.Element, tag: str, text: str | None = None, **attributes: str) -> ElementTree.Element:
    clean = {name: NOT_XML.sub("\ufffd", value) for name, value in attributes.items()}
    child = ElementTree.SubElement(parent, tag, clean)
    child.text = None if text is None else NOT_XML.sub("\ufffd", text)
    return child
