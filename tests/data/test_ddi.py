"""The codebook as DDI-Codebook 2.5: written from what the released file holds, small counts withheld."""

import datetime
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from tacita.data import Data, Variable
from tacita.data.codebook import codebook
from tacita.data.ddi import NAMESPACE, PERTURBED, ddi_codebook
from tacita.data.description import MOST_CATEGORIES, Description, described

IN = {"d": NAMESPACE}


def survey() -> Data:
    """60 people: three are jugglers, five have a code for missing, four no age."""
    jobs = ["baker"] * 40 + ["smith"] * 17 + ["juggler"] * 3
    sex = [1] * 30 + [2] * 25 + [9] * 5
    ages = [None] * 4 + [20.5 + place for place in range(56)]
    known = {
        "sex": Variable(label='Sex & "gender"', value_labels={1: "male", 2: "female", 9: "refused"}, missing=(9,)),
        "age": Variable(label="Age", perturbed=True, scale="numeric"),
    }
    return Data.of(pl.DataFrame({"job": jobs, "sex": sex, "age": ages, "w": [10.0] * 60}), known)


def xml_of(file: Description, title: str = "A survey", notes: tuple[str, ...] = ()) -> ElementTree.Element:
    return ElementTree.fromstring(ddi_codebook(file, title, notes=notes))


def test_the_description_by_hand() -> None:
    job, sex, age, weight = described(survey(), "w").variables
    # 3 jugglers are withheld, and the smiths with them, since 60 less the bakers and smiths would tell.
    assert [(each.value, each.records) for each in job.categories] == [
        ("baker", 40),
        ("juggler", None),
        ("smith", None),
    ]
    assert [(each.value, each.label, each.missing) for each in sex.categories] == [
        ("1", "male", False),
        ("2", "female", False),
        ("9", "refused", True),
    ]
    assert [each.records for each in sex.categories] == [30, None, None]
    assert (sex.valid, sex.missing) == (None, None)
    assert (age.valid, age.missing, age.perturbed, age.categories) == (None, None, True, ())
    assert (weight.valid, weight.missing) == (60, 0)
    assert (job.text, job.scale, age.text) == (True, "nominal", False)


def test_the_structure_by_hand() -> None:
    root = xml_of(described(survey(), "w"), notes=("Age: rounded.",))
    assert root.tag == f"{{{NAMESPACE}}}codeBook"
    assert root.get("version") == "2.5"
    # The order of the schema.
    assert [each.tag.partition("}")[2] for each in root] == ["docDscr", "stdyDscr", "fileDscr", "dataDscr"]
    assert root.findtext("d:stdyDscr/d:citation/d:titlStmt/d:titl", namespaces=IN) == "A survey"
    assert root.findtext("d:stdyDscr/d:notes", namespaces=IN) == "Age: rounded."
    assert root.findtext("d:fileDscr/d:fileTxt/d:dimensns/d:caseQnty", namespaces=IN) == "60"
    assert root.findtext("d:fileDscr/d:fileTxt/d:dimensns/d:varQnty", namespaces=IN) == "4"
    variables = root.findall("d:dataDscr/d:var", IN)
    assert [each.get("name") for each in variables] == ["job", "sex", "age", "w"]
    assert [each.get("intrvl") for each in variables] == ["discrete", "discrete", "contin", "contin"]
    assert {each.get("files") for each in variables} == {root.find("d:fileDscr", IN).get("ID")}  # type: ignore[union-attr]
    assert [each.get("wgt") for each in variables] == [None, None, None, "wgt"]
    assert len({each.get("ID") for each in variables}) == 4
    job, sex, age, _ = variables
    assert [each.tag.partition("}")[2] for each in sex] == [
        "labl", "invalrng", "catgry", "catgry", "catgry", "varFormat"
    ]  # fmt: skip
    assert sex.findtext("d:labl", namespaces=IN) == 'Sex & "gender"'
    assert sex.find("d:invalrng/d:item", IN).get("VALUE") == "9"  # type: ignore[union-attr]
    male, female, refused = sex.findall("d:catgry", IN)
    assert (male.findtext("d:catValu", namespaces=IN), male.findtext("d:labl", namespaces=IN)) == ("1", "male")
    assert male.findtext("d:catStat", namespaces=IN) == "30"
    assert female.find("d:catStat", IN) is None
    assert (male.get("missing"), refused.get("missing")) == (None, "Y")
    assert [job.find("d:varFormat", IN).get("type"), age.find("d:varFormat", IN).get("type")] == [  # type: ignore[union-attr]
        "character",
        "numeric",
    ]
    assert age.findtext("d:notes", namespaces=IN) == PERTURBED
    counted = [each for each in root.iter() if each.get("type") in ("freq", "vald", "invd")]
    counts = [each.text for each in counted]
    assert all(int(count or 0) == 0 or int(count or 0) >= 10 for count in counts)


def test_signs_that_xml_may_not_hold_are_replaced() -> None:
    odd = Data.of(pl.DataFrame({"a\x00b": ["\x01<&>"] * 20}), {"a\x00b": Variable(label="tab\tand \x0b]]>")})
    root = xml_of(described(odd), "Title <\ufffe>")
    variable = root.find("d:dataDscr/d:var", IN)
    assert variable is not None
    assert variable.get("name") == "a\ufffdb"
    assert variable.findtext("d:labl", namespaces=IN) == "tab\tand \ufffd]]>"
    assert variable.findtext("d:catgry/d:catValu", namespaces=IN) == "\ufffd<&>"


def test_of_many_values_only_those_with_a_label_are_listed() -> None:
    codes = [str(place) for place in range(MOST_CATEGORIES + 1) for _ in range(10)]
    data = Data.of(pl.DataFrame({"place": codes}), {"place": Variable(value_labels={"7": "Village"})})
    (place,) = described(data).variables
    assert [(each.value, each.label, each.records) for each in place.categories] == [("7", "Village", 10)]
    days = Data.of(pl.DataFrame({"day": [datetime.date(2020, 1, 1)] * 12}))
    assert described(days).variables[0].valid == 12


def test_categories_stand_in_their_order() -> None:
    ages = pl.DataFrame({"age": ["<15", "15-29", "65+", "30-64"] * 10})
    order = ("<15", "15-29", "30-64", "65+")
    data = Data.of(ages, {"age": Variable(scale="ordinal", order=order)})
    assert tuple(each.value for each in described(data).variables[0].categories) == order
    assert all(each.records == 10 for each in described(data).variables[0].categories)


def test_the_codebook_lists_categories_without_labels_too() -> None:
    rows = codebook(survey())["variable", "value", "value_label"].rows()
    assert [row[1] for row in rows if row[0] == "job"] == ["", "baker", "juggler", "smith"]
    assert [row[1:] for row in rows if row[0] == "sex"] == [
        ("", ""), ("1", "male"), ("2", "female"), ("9", "refused")
    ]  # fmt: skip
    assert [row[1] for row in rows if row[0] == "age"] == [""]


ORDER = {
    "codeBook": "docDscr stdyDscr* fileDscr dataDscr",
    "docDscr": "citation notes",
    "stdyDscr": "citation* notes",
    "citation": "titlStmt* prodStmt notes",
    "titlStmt": "titl*",
    "prodStmt": "software",
    "fileDscr": "fileTxt notes",
    "fileTxt": "fileName dimensns",
    "dimensns": "caseQnty varQnty",
    "dataDscr": "var notes",
    "var": "labl invalrng sumStat catgry varFormat notes",
    "invalrng": "item",
    "catgry": "catValu labl catStat",
}
"""What DDI-Codebook 2.5 allows inside each element, of what is written here, in its order; * must be there."""


def test_every_element_is_where_the_schema_has_it_and_those_it_requires_are_there() -> None:
    root = xml_of(described(survey(), "w"), notes=("Age: rounded.", "Sex: as it was."))
    seen = set()
    for element in root.iter():
        name = element.tag.partition("}")[2]
        seen.add(name)
        allowed = ORDER.get(name, "").split()
        plain = [each.rstrip("*") for each in allowed]
        children = [child.tag.partition("}")[2] for child in element]
        assert children == sorted(children, key=plain.index), name
        assert {each.rstrip("*") for each in allowed if each.endswith("*")} <= set(children), name
    assert set(ORDER) <= seen
    named = [element.get("ID") for element in root.iter() if element.get("ID")]
    assert len(named) == len(set(named))


def test_numbers_have_a_mean_unless_it_would_tell_a_count_that_is_withheld() -> None:
    """Three of sixty have a 1: their mean, 0.05, would say so."""
    rare, income = [1.0] * 3 + [0.0] * 57, [1000.0 * place for place in range(60)]
    file = Data.of(pl.DataFrame({"rare": rare, "income": income, "w": [2.0] * 60}), {"rare": Variable(scale="numeric")})
    root = xml_of(described(file, "w"))
    one, other, weight = root.findall("d:dataDscr/d:var", IN)
    assert [each.get("type") for each in one.findall("d:sumStat", IN)] == ["vald", "invd"]
    found = {str(each.get("type")): float(each.text or "") for each in other.findall("d:sumStat", IN)}
    spread = float(np.std(income, ddof=1))
    assert found == {"vald": 60, "invd": 0, "mean": 29_500, "stdev": pytest.approx(spread, rel=1e-3)}
    # Each variable says which one is its weight.
    assert one.get("wgt-var") == other.get("wgt-var") == weight.get("ID") and weight.get("wgt") == "wgt"
    few = described(Data.of(pl.DataFrame({"x": [None] * 55 + [1.5, 2.5, 3.5, 4.5, 5.5]}))).variables[0]
    assert (few.mean, few.deviation) == (None, None)
