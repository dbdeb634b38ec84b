"""What a scraper reads of a device, by the parser of Prometheus's own client, and held against the rules of its format."""

from prometheus_client.parser import text_string_to_metric_families

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Base units only, and a counter says that it is one: what promtool looks for.
ODD_UNITS = ("_ms", "_millis", "_milliseconds", "_kb", "_kib", "_percent", "_minutes", "_hours")


class Scrape:
    """One scrape: every series by its name and labels."""

    def __init__(self, answer):
        assert answer.status == 200, (answer.status, answer.body)
        assert answer.fields["content-type"] == CONTENT_TYPE, answer.fields
        self.text = answer.text()
        self.values, self.families = {}, {}
        lint_lines(self.text)
        for family in text_string_to_metric_families(self.text):
            assert family.name not in self.families, f"{family.name} is told twice"
            self.families[family.name] = family
            for sample in family.samples:
                key = sample.name, frozenset(sample.labels.items())
                assert key not in self.values, f"{key} is told twice"
                self.values[key] = sample.value
            lint(family)

    def value(self, name, **labels):
        return self.values[name, frozenset(labels.items())]

    def since(self, before):
        """What has grown, and by how much: every series, not just those that somebody looks for."""
        assert self.values.keys() == before.values.keys(), self.values.keys() ^ before.values.keys()
        return {key: value - before.values[key] for key, value in self.values.items() if value != before.values[key]}

    def counters(self):
        return {key: value for key, value in self.values.items() if key[0].endswith("_total")}


def lint_lines(text):
    """What the parser lets pass: that everything has its help and its type, once and before its lines."""
    assert text.endswith("\n")
    helped, typed, current = set(), set(), None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split()[2]
            assert current not in helped, f"the help of {current} is told twice"
            assert line.endswith("."), f"no sentence: {line}"
            helped.add(current)
        elif line.startswith("# TYPE "):
            assert line.split()[2] == current, f"a type in the wrong place: {line}"
            typed.add(current)
        else:
            name = line.split("{")[0].split(" ")[0]
            assert name == current and name in typed, f"a line in the wrong place: {line}"


def lint(family):
    assert family.type in ("counter", "gauge"), family
    for sample in family.samples:
        assert sample.name.startswith("mote_"), sample
        assert sample.name.endswith("_total") == (family.type == "counter"), f"{sample.name} is a {family.type}"
        assert not sample.name.removesuffix("_total").endswith(ODD_UNITS), f"no base unit: {sample.name}"
        assert sample.value >= 0 and all(sample.labels.values()), sample
        assert len(sample.labels) <= 3 and not {"le", "quantile"} & sample.labels.keys(), sample
