"""Figures of agreement by other packages, for the test `crates/karat-core/tests/agreement.rs`.

The tables of ratings are drawn from a seed by `draw`, which the test repeats in Rust, so the file written here holds nothing
but seeds, sizes and figures. Run from the root of the repository:

    python bench/agreement_oracle.py > crates/karat-core/tests/data/agreement_packages.txt

It needs scikit-learn, statsmodels, krippendorff, irrCAC, crowd-kit and what they bring.
"""

import contextlib
import io
import sys
import warnings
from importlib.metadata import version

import krippendorff
import numpy
import pandas
from crowdkit.aggregation import DawidSkene
from irrCAC.raw import CAC
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

MASK = (1 << 64) - 1
PACKAGES = ["scikit-learn", "statsmodels", "krippendorff", "irrCAC", "crowd-kit", "numpy"]
# Items, raters, categories, percent of ratings missing, percent of ratings that are guesses.
SHAPES = [
    (40, 2, 2, 0, 30),
    (40, 2, 4, 0, 30),
    (60, 3, 3, 0, 20),
    (60, 5, 5, 0, 50),
    (50, 2, 3, 20, 40),
    (80, 4, 4, 30, 30),
    (30, 6, 2, 50, 20),
    (120, 5, 7, 10, 60),
    (15, 3, 3, 0, 90),
    (300, 3, 2, 5, 10),
]


class Random:
    """SplitMix64: a few lines in any language."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % bound


def draw(seed, items, raters, categories, missing, guessing):
    """A table of items by raters, None where a rating is missing. Low categories are the larger ones."""
    random = Random(seed)
    table = []
    for _ in range(items):
        truth = min(random.below(categories), random.below(categories))
        row = []
        for _ in range(raters):
            gone = random.below(100) < missing
            guess = random.below(100) < guessing
            said = random.below(categories)
            row.append(None if gone else said if guess else truth)
        table.append(row)
    return table


def score(category):
    """Uneven places on a scale, so that numbers and ranks differ."""
    return category * category + category / 4


def show(name, value):
    print(name, repr(float(value)))


def cohen(table, categories):
    both = [(row[0], row[1]) for row in table if row[0] is not None and row[1] is not None]
    a, b = zip(*both)
    labels = list(range(categories))
    show("cohen", cohen_kappa_score(a, b, labels=labels))
    show("cohen_linear", cohen_kappa_score(a, b, labels=labels, weights="linear"))
    show("cohen_quadratic", cohen_kappa_score(a, b, labels=labels, weights="quadratic"))
    counts = numpy.zeros((categories, categories))
    for one, other in both:
        counts[one, other] += 1
    places = numpy.array([score(category) for category in labels])
    for name in ["linear", "quadratic"]:
        result = cohens_kappa(counts, weights=places, wt=name, return_results=False)
        show(f"cohen_{name}_scored", result)


def alphas(table, categories):
    data = numpy.array([[numpy.nan if v is None else v for v in row] for row in table], dtype=float).T
    for level in ["nominal", "ordinal", "interval"]:
        show(f"krippendorff_{level}", krippendorff.alpha(reliability_data=data, level_of_measurement=level))
    scored = numpy.array([[numpy.nan if v is None else score(v) for v in row] for row in table], dtype=float).T
    show("krippendorff_interval_scored", krippendorff.alpha(reliability_data=scored, level_of_measurement="interval"))


def many(table):
    if all(v is not None for row in table for v in row):
        show("fleiss_statsmodels", fleiss_kappa(aggregate_raters(numpy.array(table))[0]))
    frame = pandas.DataFrame([[numpy.nan if v is None else float(v) for v in row] for row in table])
    cac = CAC(frame.dropna(how="all").reset_index(drop=True), digits=15)
    fleiss, ac1 = cac.fleiss()["est"], cac.gwet()["est"]
    show("percent", fleiss["pa"])
    show("fleiss", fleiss["coefficient_value"])
    show("ac1", ac1["coefficient_value"])


def consensus(table, categories):
    answers = [(i, r, v) for i, row in enumerate(table) for r, v in enumerate(row) if v is not None]
    frame = pandas.DataFrame(answers, columns=["task", "worker", "label"])
    # Its bound may fall for a round and end the work too soon; below zero, all rounds are done.
    fitted = DawidSkene(n_iter=2000, tol=-1).fit(frame)
    for category in range(categories):
        show(f"prevalence_{category}", fitted.priors_.get(category, 0.0))
    for item in range(min(5, len(table))):
        if item in fitted.probas_.index:
            show(f"posterior_{item}", fitted.probas_.loc[item].get(0, 0.0))


def main():
    warnings.simplefilter("ignore")
    print("# Figures of agreement on drawn tables: a line `table seed items raters categories missing guessing`, then one figure a line.")
    print("# " + ", ".join(f"{name} {version(name)}" for name in PACKAGES))
    print("# Written by: python bench/agreement_oracle.py > crates/karat-core/tests/data/agreement_packages.txt")
    seed = 0
    for turn in range(3):
        for shape in SHAPES:
            seed += 1
            items, raters, categories, missing, guessing = shape
            table = draw(seed, *shape)
            print("table", seed, *shape)
            cohen(table, categories)
            alphas(table, categories)
            # Nothing these packages say on the way may end up in the file.
            many(table)
            if turn == 0 and items >= 60:
                with contextlib.redirect_stderr(io.StringIO()):
                    consensus(table, categories)


if __name__ == "__main__":
    sys.exit(main())
