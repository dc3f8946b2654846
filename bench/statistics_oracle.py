"""Figures of other packages on drawn inputs, for crates/karat-core/tests/statistics.rs.

    pip install numpy scipy statsmodels
    python bench/statistics_oracle.py > crates/karat-core/tests/data/statistics_packages.txt

A line is the name of a figure, then its inputs and what the packages make of them, in lists set apart by bars.
"""

import importlib.metadata as metadata

import numpy as np
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint

SEED = 20250101
RESAMPLES = 100_000
random = np.random.default_rng(SEED)


def line(name, *lists):
    print(name, *(" ".join(repr(float(v)) for v in np.atleast_1d(values)) for values in lists), sep=" | ")


def drawn_cases(n, trials):
    """Scores by cases of different difficulty, fine enough that a sample's quantiles do not jump."""
    means = random.beta(1.2, 0.8, n)
    return [np.round(random.beta(4 * mean + 0.2, 4.2 - 4 * mean, trials), 3) for mean in means]


def shrunk(cases):
    """Case means, and cases moved as the hierarchical bootstrap does before it draws trials."""
    means = np.array([c.mean() for c in cases])
    centre = means.mean()
    noise = sum(c.var() / len(c) for c in cases)
    shrink = np.sqrt(max(0, 1 - noise / ((means - centre) ** 2).sum()))
    return means, np.array([centre + shrink * (m - centre) + (c - m) for c, m in zip(cases, means)])


def bootstraps():
    for number, (n, trials) in enumerate([(30, 1), (80, 1), (40, 3), (60, 6)]):
        cases = drawn_cases(n, trials)
        means, moved = shrunk(cases)
        flat = np.concatenate(cases)
        if trials == 1:
            for method in ["percentile", "BCa"]:
                found = stats.bootstrap((flat,), np.mean, n_resamples=RESAMPLES, method=method, batch=1000,
                                        rng=np.random.default_rng(SEED + number)).confidence_interval
                line("bootstrap-" + method.lower(), trials, flat, list(found))
        # Cases, then trials: SciPy draws the cases, and its statistic the trials within them.
        inner = np.random.default_rng(SEED + 100 + number)

        def mean(index, axis=-1):
            index = np.asarray(index, dtype=int)
            if index.shape[-1] < n or (index.ndim == 1):
                return means[index].mean(axis=axis)
            picked = inner.integers(0, trials, index.shape + (trials,))
            return moved[index[..., None], picked].mean(axis=-1).mean(axis=axis)

        for method in ["percentile", "BCa"]:
            found = stats.bootstrap((np.arange(n),), mean, n_resamples=RESAMPLES, method=method, batch=1000,
                                    rng=np.random.default_rng(SEED + number)).confidence_interval
            line("hierarchical-" + method.lower(), trials, flat, list(found))


def proportions():
    for n in [1, 2, 5, 10, 30, 100, 1000, 50_000]:
        for k in sorted({0, 1, n // 3, n // 2, n - 1, n}):
            for level in [0.8, 0.95, 0.99]:
                line("wilson", [k, n, level], proportion_confint(k, n, 1 - level, method="wilson"))
                exact = stats.binomtest(k, n).proportion_ci(level, method="exact")
                line("clopper-pearson", [k, n, level], list(exact))


def quantiles():
    for level in [0.5, 0.9, 0.95, 0.999]:
        for freedom in [1, 2, 5, 49, 1000]:
            line("t", [freedom, level], stats.t.ppf(0.5 + level / 2, freedom))
        line("normal", level, stats.norm.ppf(0.5 + level / 2))


def clusters():
    for size, count in [(1, 30), (4, 12), (10, 50)]:
        names = np.repeat(np.arange(count), size)
        values = random.normal(0.3, 1, len(names)) + random.normal(0, 0.7, count)[names]
        if size > 1:  # Clusters of unequal sizes.
            kept = random.random(len(names)) < 0.8
            names, values = names[kept], values[kept]
        model = OLS(values, np.ones(len(values)))
        errors = [model.fit(cov_type="cluster", use_t=True, cov_kwds={"groups": names, "use_correction": c}) for c in (False, True)]
        line("clustered", values, names, [errors[0].bse[0], errors[1].bse[0], *errors[1].conf_int(0.05)[0]])


def paired():
    for n in [3, 8, 12, 14]:
        differences = np.round(random.normal(0.15, 0.4, n), 2)
        found = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
        line("sign-flip", differences, found.pvalue)
    for n in [40, 200]:
        differences = np.round(random.normal(0.05, 0.4, n), 2)
        found = stats.permutation_test((differences,), lambda x, axis: x.mean(axis=axis), permutation_type="samples", vectorized=True,
                                       n_resamples=RESAMPLES, batch=1000, rng=np.random.default_rng(SEED))
        line("sign-flip-drawn", differences, found.pvalue)
    for b, c in [(0, 0), (1, 0), (5, 0), (3, 9), (12, 4), (25, 25), (40, 71), (300, 400)]:
        line("mcnemar", [b, c], mcnemar([[5, b], [c, 7]], exact=True).pvalue)
    for m in [1, 2, 5, 20]:
        p = random.beta(0.3, 2, m)
        line("holm", p, multipletests(p, method="holm")[1])
    for effect in [0.1, 0.25, 0.5]:
        line("sample-size", effect, NormalIndPower(ddof=0).solve_power(effect, alpha=0.05, power=0.8, ratio=0))


def components():
    for n, trials in [(20, 3), (50, 5)]:
        names = np.repeat(np.arange(n), trials)
        values = random.normal(0, 1, n)[names] + random.normal(0, 0.6, len(names))
        found = MixedLM(values, np.ones((len(values), 1)), names).fit(reml=True)
        line("components", trials, values, [found.cov_re[0, 0], found.scale])


def orders():
    # Their own draws, so that the figures above stay as they are.
    drawn = np.random.default_rng(SEED + 1)
    for n, levels in [(4, 100), (5, 3), (8, 4), (12, 1000), (40, 7)]:
        a, b = drawn.integers(0, levels, n), drawn.integers(0, levels, n)
        line("orders", a, b, [stats.spearmanr(a, b).statistic, stats.kendalltau(a, b).statistic])


versions = ", ".join(f"{name} {metadata.version(name)}" for name in ["numpy", "scipy", "statsmodels"])
print(f"# {versions}; seed {SEED}, {RESAMPLES} resamples")
print("# Written by: python bench/statistics_oracle.py > crates/karat-core/tests/data/statistics_packages.txt")
for figures in [bootstraps, proportions, quantiles, clusters, paired, components, orders]:
    figures()
